"""A small model of a terminal's screen: enough to know which words a program shows. Colours and styles are dropped."""

from __future__ import annotations

import codecs
import re
import unicodedata

SEQUENCE = re.compile(
    r"\x1b\[(?P<mark>[<=>?]?)(?P<numbers>[\d;:]*)[ -/]*(?P<final>[@-~])"  # control sequence
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"  # title, clipboard, device strings
    r"|\x1b[()*+#%][\x20-\x7e]"  # character sets
    r"|\x1b(?P<plain>[\x30-\x4f\x51-\x57\x59\x5a\x5c\x60-\x7e])"  # two-character escapes
)
UNFINISHED = re.compile(r"\x1b(?:\[[<=>?]?[\d;:]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[()*+#%]?)?\Z")
MAX_UNFINISHED = 1 << 16
"""An escape that never ends is dropped after this many characters."""


class Screen:
    """A grid of characters and a cursor, fed with the bytes a program writes.

    `replies` collects what a terminal owes the program (position and identity reports); the owner sends and empties it.
    Lines that scroll off the top are kept in `history`.
    """

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self.history: list[str] = []
        self.replies: list[bytes] = []
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._rest = ""
        self._grid = [self._blank() for _ in range(rows)]
        self._row = self._column = 0
        self._saved = (0, 0)
        self._top, self._bottom = 0, rows - 1

    def lines(self) -> list[str]:
        """The rows of the screen, top first, without trailing spaces."""
        return ["".join(row).rstrip() for row in self._grid]

    def text(self) -> str:
        """The whole screen as one string."""
        return "\n".join(self.lines())

    def feed(self, data: bytes) -> None:
        """Take what the program wrote; sequences may be cut anywhere."""
        waiting = self._rest + self._decode(data)
        self._rest = ""
        place = 0
        while place < len(waiting):
            if waiting[place] != "\x1b":
                self._put(waiting[place])
                place += 1
                continue
            found = SEQUENCE.match(waiting, place)
            if found:
                self._obey(found)
                place = found.end()
            elif UNFINISHED.match(waiting, place) and len(waiting) - place < MAX_UNFINISHED:
                self._rest = waiting[place:]
                return
            else:
                place += 1

    def _blank(self) -> list[str]:
        return [" "] * self.columns

    def _put(self, character: str) -> None:
        if character == "\n":
            self._down()
        elif character == "\r":
            self._column = 0
        elif character == "\b":
            self._column = max(0, self._column - 1)
        elif character == "\t":
            self._column = min(self.columns - 1, (self._column // 8 + 1) * 8)
        elif character >= " " and character != "\x7f":
            self._write(character)

    def _write(self, character: str) -> None:
        if unicodedata.combining(character) or unicodedata.category(character) in {"Cf", "Mn", "Me"}:
            return
        width = 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if self._column + width > self.columns:
            self._column = 0
            self._down()
        self._grid[self._row][self._column] = character
        if width == 2:
            self._grid[self._row][self._column + 1] = ""
        self._column += width

    def _down(self) -> None:
        if self._row == self._bottom:
            self._scroll_up()
        else:
            self._row = min(self.rows - 1, self._row + 1)

    def _up(self) -> None:
        if self._row == self._top:
            self._grid.insert(self._top, self._blank())
            del self._grid[self._bottom + 1]
        else:
            self._row = max(0, self._row - 1)

    def _scroll_up(self) -> None:
        gone = self._grid.pop(self._top)
        if self._top == 0:
            self.history.append("".join(gone).rstrip())
        self._grid.insert(self._bottom, self._blank())

    def _obey(self, found: re.Match[str]) -> None:
        if found["plain"]:
            self._obey_plain(found["plain"])
        elif found["final"]:
            numbers = [int(number or 0) for number in re.split("[;:]", found["numbers"])]
            if found["mark"]:
                self._obey_private(found["mark"], found["final"], numbers)
            else:
                self._obey_control(found["final"], numbers)

    def _obey_plain(self, final: str) -> None:
        if final == "7":
            self._saved = (self._row, self._column)
        elif final == "8":
            self._row, self._column = self._saved
        elif final == "M":
            self._up()
        elif final in "DE":
            self._column = 0 if final == "E" else self._column
            self._down()
        elif final == "c":
            self._clear_all()

    def _obey_private(self, mark: str, final: str, numbers: list[int]) -> None:
        if mark == "?" and final in "hl" and {47, 1047, 1049} & set(numbers):
            self._clear_all()

    def _clear_all(self) -> None:
        self._grid = [self._blank() for _ in range(self.rows)]
        self._row = self._column = 0
        self._top, self._bottom = 0, self.rows - 1

    def _obey_control(self, final: str, numbers: list[int]) -> None:
        first, second = numbers[0], numbers[1] if len(numbers) > 1 else 0
        count = max(1, first)
        if final in "ABCDEFGdHf`ae":
            self._move(final, count, first, second)
        elif final in "JKX":
            self._erase(final, first)
        elif final in "LMST@P":
            self._shift(final, count)
        elif final == "r":
            self._top, self._bottom = max(1, first) - 1, min(second or self.rows, self.rows) - 1
            self._row = self._column = 0
        elif final in "su":
            self._obey_plain("7" if final == "s" else "8")
        elif final == "c":
            self.replies.append(b"\x1b[?1;2c")
        elif final == "n":
            self.replies.append(b"\x1b[0n" if first == 5 else f"\x1b[{self._row + 1};{self._column + 1}R".encode())

    def _move(self, final: str, count: int, first: int, second: int) -> None:
        row, column = self._row, min(self._column, self.columns - 1)
        if final in "Hf":
            row, column = max(1, first) - 1, max(1, second) - 1
        elif final in "G`":
            column = count - 1
        elif final == "d":
            row = count - 1
        elif final in "Ca":
            column += count
        elif final == "D":
            column -= count
        else:
            row += count if final in "BEe" else -count
            column = 0 if final in "EF" else column
        self._row = min(max(row, 0), self.rows - 1)
        self._column = min(max(column, 0), self.columns - 1)

    def _erase(self, final: str, mode: int) -> None:
        row, column = self._grid[self._row], min(self._column, self.columns - 1)
        if final == "X":
            end = min(self.columns, column + max(1, mode))
            row[column:end] = [" "] * (end - column)
            return
        if mode == 0:
            row[column:] = [" "] * (self.columns - column)
        elif mode == 1:
            row[: column + 1] = [" "] * (column + 1)
        else:
            row[:] = self._blank()
        if final == "J" and mode != 3:
            above, below = range(self._row), range(self._row + 1, self.rows)
            for other in {0: [*below], 1: [*above]}.get(mode, [*above, *below]):
                self._grid[other] = self._blank()

    def _shift(self, final: str, count: int) -> None:
        if final in "@P":
            row, column = self._grid[self._row], min(self._column, self.columns - 1)
            for _ in range(min(count, self.columns - column)):
                if final == "@":
                    row.insert(column, " ")
                    row.pop()
                else:
                    del row[column]
                    row.append(" ")
            return
        top = self._row if final in "LM" else self._top
        for _ in range(min(count, self.rows)):
            if final in "LT":
                self._grid.insert(top, self._blank())
                del self._grid[self._bottom + 1]
            else:
                del self._grid[top]
                self._grid.insert(self._bottom, self._blank())
