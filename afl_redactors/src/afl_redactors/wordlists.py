"""The words that tell a credential from its surroundings, as sets of lower-case words. Decides nothing."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NOT_AFTER = _words(
    """
    count counts length len size limit limits max min type types name names id ids field fields label hint policy url urls uri
    endpoint path paths file files filename dir directory expiry expires expire expiration expired ttl in at lifetime age usage
    used budget cost price rate index idx position pos offset start end stream manager service provider store storage validator
    validation validate strength reset regex pattern format required enabled disabled visible ref refs version arn header prefix
    suffix generator error errors status mode algorithm alg bucket scope scopes audience issuer class func function handler
    callback param params parameter changed updated created date time timestamp entropy kind state row col column input form
    page link button box title message placeholder help description info rotation rotated exists valid invalid source per window
    ratio threshold list estimate estimated based stdin env map level number variants terminator markup nesting mgr annotation
    family parser tree reader counter set ring bar cache buffer
    """
)
"""Parts of a name that say it is about a credential and holds none: `token_count`."""

NOT_BEFORE_TOKEN = _words(
    """
    max min num total n next page continuation pagination sync stop eos bos pad unk mask cls sep special input output prompt
    completion cached thinking reasoning design per cancellation cancel count used is has show hide forgot reset use no public
    css theme syntax first last prev previous start end
    """
)
"""Parts before "token" that make it another kind of token: `max_token`."""

KINDS_OF_KEY = _words(
    """
    api access account private signing encryption master auth service storage deploy session shared app subscription admin license
    licence
    """
)
"""What stands before "key" in the name of a credential."""

NOT_BEFORE = _words(
    """
    is has show hide forgot no need needs requires allow confirm
    """
)
"""Parts before any credential word that make it a question: `has_password`."""

STAGES = _words(
    """
    value text default prod production dev development test staging local 0 1 2 3
    """
)
"""Last parts of a dotted name that keep it a credential: `password.prod`."""

TYPES = _words(
    """
    string str int integer number bool boolean any unknown none null nil undefined true false bytes bytearray object text
    varchar char optional required void never uuid secretstr securestring buffer array list dict map float double date datetime
    symbol function password token secret credential credentials apikey key jwt yes no on off self this
    """
)
"""Names of types and constants."""

CODE_NAMES = _words(
    """
    value val input args arg data opts options result res req env config await new lambda function async return not if else pw
    tok body params props default raw text payload header headers ctx
    """
)
"""Names that variables of everyday code have."""

PROSE = _words(
    """
    a an the not no in on at to of for from by with without and or but if as is are was be been it its this that these those my
    your our their his her already previously shared provided given sent too so very still now never always only also just again
    here there then than when where what which who how why set used unset empty null none wrong right correct incorrect invalid
    valid weak strong short long safe unsafe secure insecure fine ok okay good bad old new same different public private secret
    unknown known gone lost due stale ready live off up down out below above mandatory necessary kept shown hidden broken stolen
    written read built made done true false yours mine theirs plain plaintext case base64 utf8 must should may might can could
    will would has have had does do did flag option argument parameter field instead because before after until while both
    either all any each every some more most least less one two three another other us them me you we they i he she fresh random
    unique rotating hash hex sensitive leaked expired missing required optional needed encrypted hashed stored exposed dead late
    like about into over under per via user users admin-only server-side client-side up-to-date out-of-date one-time short-lived
    long-lived read-only write-only case-sensitive user-defined plain-text present absent visible local remote global fake dummy
    real temporary internal external free open closed easy hard simple complex tested checked bound being part easily probably
    maybe gibberish garbage nonsense
    """
)
"""Words that continue a sentence behind "the password is"."""
