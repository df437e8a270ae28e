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
    family parser tree reader counter set ring bar cache buffer hash hashes hashed hasher hashers digest fingerprint question rules rule
    loaded plugin plugins bytes width height dialog dropout color colour sm md lg xl spacing strategy encoder encoding decoder provider
    backend class module package component icon resolver event action request response dto schema route router command fds gecos attempts
    attempt retries retry history complexity owner guard interceptor middleware symbol symbols literal embedding embeddings cookie property
    prop attribute selector element locator tag tags flag option mount volume checker check checks prompt hint hints size sizes bits
    probability logprobs sha sha1 sha256 sha512 vocabulary vocab template templates query queries index indices strategy mapper resolver repository entity
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
    api access account private signing signature encryption encrypt decryption master auth authentication authorization service storage
    deploy session shared app subscription admin license licence aes hmac jwt crypto cipher webhook consumer integration client preshared
    pre-shared recovery root vapid sas sdk ssh security
    """
)
"""What stands before "key" in the name of a credential."""

NOT_BEFORE_KEY = _words(
    """
    public pub cache primary foreign partition sort range dedup dedupe idempotency object s3 map dict group routing route i18n translation message
    msg locale shortcut hot arrow enter esc tab shift ctrl alt meta modifier keyboard registry lookup index unique composite candidate natural
    surrogate row item field header query param parameter config setting state react list node tree feature flag order ordering event topic
    record etag trace request span correlation hash bucket blob file path storage lock redis sitemap column foreign_key issue project space
    parent entity resource artifact commit build image layer content digest fingerprint
    """
)
"""Parts before any "key" that make it the name of something that is looked up."""

NOT_BEFORE = _words(
    """
    is has show hide forgot no need needs requires allow existing missing for
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
    symbol function password token secret credential credentials apikey key jwt eof yes no on off self this
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
    maybe gibberish garbage nonsense write flags
    """
)
"""Words that continue a sentence behind "the password is"."""

STAND_INS = _words(
    """
    changeme change_me change-me changeit replaceme password passwd pass pwd passphrase passwort kennwort secret example test none null nil
    undefined unset unknown empty todo tbd fixme dummy fake placeholder foo bar baz foobar redacted removed hidden masked blank n/a na
    include omit same-origin somepass badpass testpass userpass blah sekrit
    """
)
"""Values that stand for a credential that is not there."""

CREDENTIAL_WORDS = _words(
    """
    pass password passwords passcode passphrase passwd token tokens secret secrets credential credentials key keys pin
    passwort kennwort schlüssel zugangsdaten geheimnis contraseña contraseñas clave claves secreto passe senha senhas chave segredo
    пароль пароля пароли паролем ключ ключи токен токена секрет секретный パスワード 비밀번호 암호 패스워드 토큰 密码 密碼 口令 密钥 令牌
    wachtwoord hasło heslo parola şifre lösenord
    """
)
"""Words for credentials, with which labels of forms are made."""

LABEL_WORDS = _words(
    """
    please enter confirm forgot reset generate remember must contain characters least match matches field change click login sign show hide
    type select choose create update delete save cancel failed error
    """
)
"""Words that labels and messages are made of, besides those of `PROSE`."""

JOINING = _words(
    """
    the and for are was were with from not but has had have will would should can must your our their its into that's
    que para con por los las del una como der die das und ist mit von für nicht ein eine des les est une pour dans sur avec
    это что как для или при она они его
    """
)
"""Words that join others, and that no list of BIP-39 has."""

JOINING_ANY = JOINING | _words(
    """
    a an it is be been being to of in on at by as or if so no we you he she they i this that these those when where which who whom what why how before
    after until since while because than then there here only also just too very now please and/or us me my his her them only again once twice
    vor nach bis weil wenn dass als auf aus bei zum zur sie wir ihr ich sich auch nur schon noch bitte zu im am es
    antes después porque cuando si en el la lo y o su sus se al es de por favor
    avant après parce quand si en le la un au aux et ou sa son ses se de il elle nous vous ne pas
    antes depois porque quando se em no na o a os as e ou seu sua um uma do da dos das não
    до после если когда потому и а но в на с по из у к не быть был была
    です ます でした 입니다 이다 예요
    """
)
"""Those and shorter ones: before them a told passphrase is at its end."""
