"""The schema as numbered migrations. A migration is never edited once released; a new one is appended.

Times are milliseconds since the epoch. `*_json` columns hold canonical JSON. Text columns of evidence hold redacted text only.
Imports nothing but the later steps, which import nothing: the front reads the constants.
"""

from afl_core.store.schema_later import FILES, HALVES, HELD, KINDS, TYPED

APPLICATION_ID = 0x41464C31
"""`AFL1`: written to every database of ours, checked before anything is touched."""

PAGE_BYTES = 8192
"""Of a home's database: several messages fit into one page, so that storing them writes little more than their text."""

MEMORY_PAGE_BYTES = 2048
"""Of a memory file of its own: grains are small, and every commit writes whole pages."""

EVIDENCE = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE vault_keys (
  key_id TEXT PRIMARY KEY,          -- 16 hex digits
  purpose TEXT NOT NULL,            -- intake | spool | blob
  wrapped BLOB NOT NULL,            -- the data key sealed to the vault's public key
  created_ms INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE projects (
  project_id TEXT PRIMARY KEY,
  root TEXT NOT NULL,               -- real path of the git common directory, or of the working directory; '' when unscoped
  kind TEXT NOT NULL,               -- git | directory | unscoped: a session of which no directory is known
  lineage TEXT,                     -- digest of the normalised remote; NULL: none known, not eligible for promotion
  first_seen_ms INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE sessions (
  session_id TEXT PRIMARY KEY,      -- <host>:<native session id>
  host TEXT NOT NULL,
  native_id TEXT NOT NULL,
  project_id TEXT NOT NULL,
  cwd TEXT NOT NULL,
  transcript_path TEXT,
  epoch INTEGER NOT NULL DEFAULT 1,
  epoch_ms INTEGER NOT NULL DEFAULT 0, -- compactions until this time were counted from the transcript; a hook that tells of one later opens none
  next_seq INTEGER NOT NULL DEFAULT 1,
  started_ms INTEGER NOT NULL,
  seen_ms INTEGER NOT NULL,         -- last hook or transcript change
  ended_ms INTEGER
) WITHOUT ROWID;
CREATE INDEX sessions_seen ON sessions (seen_ms);

CREATE TABLE intake (
  intake_id TEXT PRIMARY KEY,       -- the hook's own event id, 32 hex digits
  host TEXT NOT NULL,
  event TEXT NOT NULL,              -- the host's own event name
  kind TEXT NOT NULL,               -- prompt | stop | session_start | session_end
  session_id TEXT NOT NULL,
  turn TEXT,                        -- the host's turn id (Claude: prompt_id), never a message id
  source TEXT,                      -- session_start: startup | resume | clear | compact | fork; session_end: the reason
  cwd TEXT NOT NULL DEFAULT '',
  project_id TEXT NOT NULL,
  transcript_path TEXT,
  transcript_size INTEGER,          -- bytes of the transcript when the hook ran; NULL: no file yet
  text_mac TEXT,                    -- keyed hash of the raw prompt or answer text; NULL: no text
  sealed BLOB,                      -- the whole payload, sealed; NULL once opened and no longer needed
  total_bytes INTEGER NOT NULL,     -- of the payload the host sent; larger than the sealed part when it was cut
  received_ms INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT 'new' -- new | joined | born | ignored
) WITHOUT ROWID;
CREATE INDEX intake_waiting ON intake (session_id, received_ms) WHERE state = 'new';

CREATE TABLE cursors (
  path TEXT PRIMARY KEY,
  host TEXT NOT NULL,
  session_id TEXT NOT NULL,
  device INTEGER NOT NULL,
  inode INTEGER NOT NULL,
  generation INTEGER NOT NULL,      -- grows when the file was replaced or truncated
  offset INTEGER NOT NULL,          -- end of the last complete record read
  skipping INTEGER NOT NULL DEFAULT 0, -- 1: inside an oversized record, discard to the next newline
  state_json TEXT NOT NULL,         -- the host adapter's parse state: no conversation text, at most 16 KiB
  gaps_json TEXT NOT NULL DEFAULT '[]',
  version INTEGER NOT NULL,         -- compare-and-swap token
  updated_ms INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE events (
  event_id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL,
  project_id TEXT NOT NULL,
  seq INTEGER NOT NULL,             -- per session, order of birth; never used to order evidence
  generation INTEGER NOT NULL,
  offset INTEGER NOT NULL,          -- byte offset of the record; a hook sighting alone: size of the transcript then
  part INTEGER NOT NULL,            -- index inside the record; a hook sighting alone: 1000000 + seq
  epoch INTEGER NOT NULL,
  kind TEXT NOT NULL,               -- message | tool_call | tool_result | turn_cut
  role TEXT NOT NULL,               -- user | assistant | system
  text TEXT NOT NULL,               -- redacted
  manifest_json TEXT NOT NULL,      -- redaction counts by rule
  text_mac TEXT,                    -- keyed hash of the raw text
  turn TEXT,
  native_id TEXT,
  parent_id TEXT,
  call_id TEXT,
  tool_name TEXT,
  is_error INTEGER,
  exit_code INTEGER,
  data_class TEXT NOT NULL,         -- normal | synthetic_canary
  completeness TEXT NOT NULL,       -- whole | partial | head_and_tail | hook_only
  source_ms INTEGER,                -- the host's time
  captured_ms INTEGER NOT NULL,
  blob TEXT,                        -- name of the sealed raw record; NULL: erased or never kept
  UNIQUE (session_id, seq)
);
CREATE INDEX events_place ON events (session_id, generation, offset, part);
CREATE INDEX events_native ON events (native_id, part) WHERE native_id IS NOT NULL;
CREATE INDEX events_mac ON events (session_id, text_mac) WHERE text_mac IS NOT NULL;
CREATE INDEX events_turn ON events (session_id, turn) WHERE kind = 'message';
CREATE INDEX events_call ON events (session_id, call_id) WHERE call_id IS NOT NULL;
CREATE INDEX events_age ON events (captured_ms);
CREATE INDEX events_blob ON events (blob) WHERE blob IS NOT NULL;

CREATE TABLE sightings (
  session_id TEXT NOT NULL,
  source TEXT NOT NULL,             -- hook | transcript
  source_id TEXT NOT NULL,          -- intake id, or native id (+ part), or <generation>:<offset>:<part>
  event_id TEXT NOT NULL REFERENCES events (event_id) ON DELETE CASCADE,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (session_id, source, source_id)
) WITHOUT ROWID;
CREATE INDEX sightings_event ON sightings (event_id);

CREATE TABLE signals (
  event_id TEXT PRIMARY KEY REFERENCES events (event_id) ON DELETE CASCADE, -- the person's words
  kind TEXT NOT NULL,               -- interruption | steering | rejection
  referent_id TEXT NOT NULL,        -- the assistant event they point at
  project_id TEXT NOT NULL,
  at_ms INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE queue (
  event_id TEXT PRIMARY KEY REFERENCES events (event_id) ON DELETE CASCADE,
  project_id TEXT NOT NULL,
  immediate INTEGER NOT NULL,       -- 1: a signal asked for it
  status TEXT NOT NULL,             -- pending | acknowledged | exhausted
  review_id TEXT,
  created_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX queue_open ON queue (project_id, created_ms) WHERE status = 'pending';
CREATE INDEX queue_review ON queue (review_id) WHERE review_id IS NOT NULL;
"""

REVIEW = """
CREATE TABLE reviews (
  review_id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL,
  host TEXT NOT NULL,               -- whose session: decides which reviewer may see it
  status TEXT NOT NULL,             -- pending | running | completed | failed
  immediate INTEGER NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 0,
  owner TEXT,
  fence INTEGER NOT NULL DEFAULT 0, -- fencing token, +1 at every lease
  lease_until_ms INTEGER,
  wakes INTEGER NOT NULL DEFAULT 0,
  next_wake_ms INTEGER NOT NULL DEFAULT 0,
  reason TEXT,                      -- reason code of the last failure or postponement
  detail TEXT,                      -- redacted, at most 500 characters
  receipt_id TEXT,
  report_id TEXT,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  ended_ms INTEGER
) WITHOUT ROWID;
CREATE INDEX reviews_open ON reviews (project_id, created_ms) WHERE status IN ('pending', 'running');
CREATE INDEX reviews_ended ON reviews (project_id, ended_ms);

CREATE TABLE review_runs (
  run_id TEXT PRIMARY KEY,
  review_id TEXT NOT NULL,
  project_id TEXT NOT NULL,
  reviewer TEXT NOT NULL,
  model TEXT,
  started_ms INTEGER NOT NULL,
  ended_ms INTEGER,
  outcome TEXT,                     -- completed | a reason code
  input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  cost_usd REAL,                    -- NULL: the host reports no money
  detail TEXT                       -- why it failed, redacted, at most 500 characters
) WITHOUT ROWID;
CREATE INDEX review_runs_day ON review_runs (started_ms);

CREATE TABLE receipts (receipt_id TEXT PRIMARY KEY, review_id TEXT NOT NULL, body_json TEXT NOT NULL, created_ms INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE reports (report_id TEXT PRIMARY KEY, review_id TEXT NOT NULL, text TEXT NOT NULL, created_ms INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE incidents (
  incident_id TEXT PRIMARY KEY,     -- digest of the fingerprint over project and evidence ids, and the family
  project_id TEXT NOT NULL,
  review_id TEXT NOT NULL,
  severity TEXT NOT NULL,           -- Minor | Major | Critical | Blocker
  family_id TEXT NOT NULL,
  lesson_id TEXT,                   -- NULL for a minor finding
  feedback_event_id TEXT NOT NULL,
  quote TEXT NOT NULL,              -- redacted, exact
  created_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX incidents_family ON incidents (family_id);
CREATE TABLE incident_events (incident_id TEXT NOT NULL, event_id TEXT NOT NULL, PRIMARY KEY (incident_id, event_id)) WITHOUT ROWID;
"""

MEMORY = """
CREATE TABLE grains (
  seq INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL,
  ns TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  superseded_by TEXT,
  derived_from TEXT,
  tool_name TEXT,
  is_error INTEGER,
  signature TEXT,                   -- of an error text, for counting alike failures
  call_id TEXT,
  session_id TEXT,
  fields_json TEXT NOT NULL
);
CREATE INDEX grains_live ON grains (type, created_ms) WHERE superseded_by IS NULL;
CREATE INDEX grains_ns ON grains (ns, type, created_ms);
CREATE UNIQUE INDEX grains_call ON grains (session_id, call_id) WHERE type = 'tool' AND call_id IS NOT NULL;

CREATE TABLE heads (
  ns TEXT NOT NULL, subject TEXT NOT NULL, relation TEXT NOT NULL, hash TEXT NOT NULL,
  PRIMARY KEY (ns, subject, relation, hash)
) WITHOUT ROWID;

CREATE TABLE lessons (
  lesson_id TEXT PRIMARY KEY,
  project_id TEXT,                  -- NULL: global, only through promotion
  ns TEXT NOT NULL,                 -- project:<project id> | global
  grain_hash TEXT NOT NULL,         -- the current revision
  revision INTEGER NOT NULL,
  severity TEXT NOT NULL,           -- Major | Critical | Blocker
  family_id TEXT NOT NULL,
  method_class TEXT NOT NULL,
  class_id TEXT NOT NULL,
  status TEXT NOT NULL,             -- candidate | active | disabled | retracted
  conflict TEXT NOT NULL DEFAULT 'none', -- none | safety_hold
  load_policy TEXT NOT NULL DEFAULT 'conditional', -- conditional | trend_only
  promotion TEXT NOT NULL DEFAULT 'project', -- project | active_global
  generalizable INTEGER NOT NULL,
  recurrence INTEGER NOT NULL DEFAULT 1,
  origin_session TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX lessons_family ON lessons (family_id);

CREATE TABLE lesson_revisions (
  lesson_id TEXT NOT NULL, revision INTEGER NOT NULL, grain_hash TEXT NOT NULL, severity TEXT NOT NULL,
  review_id TEXT, created_ms INTEGER NOT NULL, PRIMARY KEY (lesson_id, revision)
) WITHOUT ROWID;

CREATE TABLE family_evidence (
  family_id TEXT NOT NULL, lineage TEXT NOT NULL, project_id TEXT NOT NULL, lesson_id TEXT NOT NULL, incident_id TEXT NOT NULL,
  created_ms INTEGER NOT NULL, PRIMARY KEY (family_id, lineage, incident_id)
) WITHOUT ROWID;

CREATE TABLE projection (
  lesson_id TEXT PRIMARY KEY,       -- what the front reads: one row for every card that could be selected now
  project_id TEXT NOT NULL,         -- '' for global
  rank INTEGER NOT NULL,            -- 0 Blocker, 1 Critical, 2 Major
  severity TEXT NOT NULL,
  revision INTEGER NOT NULL,
  family_id TEXT NOT NULL,
  is_global INTEGER NOT NULL,
  conflict TEXT NOT NULL,
  load_policy TEXT NOT NULL,
  card_text TEXT NOT NULL,          -- neutralised and capped, as it will be injected
  tokens INTEGER NOT NULL,
  match_json TEXT NOT NULL,         -- {"paths":[],"tools":[],"task_types":[],"signals":[],"words":[],"grams":[]}
  origin_session TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX projection_project ON projection (project_id, rank);

CREATE TABLE deliveries (
  delivery_id TEXT PRIMARY KEY,     -- digest of session, epoch, lesson and revision
  lesson_id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  nonce TEXT NOT NULL,
  state TEXT NOT NULL,              -- emitted | reached | unconfirmed
  emissions INTEGER NOT NULL,
  intake_id TEXT NOT NULL,
  match_json TEXT NOT NULL,
  emitted_ms INTEGER NOT NULL,
  reached_ms INTEGER
) WITHOUT ROWID;
CREATE INDEX deliveries_session ON deliveries (session_id, epoch);
CREATE INDEX deliveries_lesson ON deliveries (lesson_id);

CREATE TABLE omissions (
  intake_id TEXT NOT NULL, lesson_id TEXT NOT NULL, session_id TEXT NOT NULL, reason TEXT NOT NULL, at_ms INTEGER NOT NULL,
  PRIMARY KEY (intake_id, lesson_id)
) WITHOUT ROWID;
CREATE INDEX omissions_session ON omissions (session_id);

CREATE TABLE effects (
  effect_id TEXT PRIMARY KEY,
  lesson_id TEXT NOT NULL,
  previous_lesson_id TEXT NOT NULL,
  expected_revision INTEGER NOT NULL,
  delivery_id TEXT,
  delivery_state TEXT NOT NULL,
  was_applicable INTEGER NOT NULL,
  was_followed INTEGER,
  failure_mode TEXT NOT NULL,
  control_owner TEXT NOT NULL,
  corrective_action TEXT NOT NULL,
  review_id TEXT NOT NULL,
  created_ms INTEGER NOT NULL
) WITHOUT ROWID;
"""

GOVERNANCE = """
CREATE TABLE audit (
  n INTEGER PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  target TEXT NOT NULL,
  body_hash TEXT NOT NULL,
  reason_hash TEXT NOT NULL,
  previous TEXT NOT NULL,           -- hash of row n-1, 64 zeros for the first
  hash TEXT NOT NULL
);
CREATE TABLE audit_texts (hash TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID; -- erasable: bodies and reasons

CREATE TABLE status (name TEXT PRIMARY KEY, body_json TEXT NOT NULL, updated_ms INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE plugin_ledger (
  plugin TEXT NOT NULL, call TEXT NOT NULL, failures INTEGER NOT NULL, last_error TEXT NOT NULL, last_ms INTEGER NOT NULL,
  quarantined_until_ms INTEGER, PRIMARY KEY (plugin, call)
) WITHOUT ROWID;
"""


def marked(number: int, step: str) -> str:
    """A step that also names itself: a statement that names the table `schema_<number>` cannot be run once another step was made."""
    return f"{step}\nDROP TABLE IF EXISTS schema_{number - 1};\nCREATE TABLE schema_{number} (unused);\n"


MIGRATIONS: tuple[str, ...] = (EVIDENCE + REVIEW + MEMORY + GOVERNANCE, FILES, HELD, TYPED, KINDS, marked(6, HALVES))
"""Migration n (counting from 1) brings `user_version` from n-1 to n. Every one from the sixth on is `marked`."""

SCHEMA_VERSION = len(MIGRATIONS)
