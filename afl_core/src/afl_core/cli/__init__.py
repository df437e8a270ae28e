"""The afl command."""
