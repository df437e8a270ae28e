"""The later steps of the schema, each as it was when it was new: a step is never changed, another one is added."""

FILES = """
ALTER TABLE cursors ADD COLUMN anchor TEXT; -- keyed hash of the bytes before offset; NULL: read before there were anchors
CREATE INDEX cursors_session ON cursors (session_id, generation);

CREATE TABLE transcripts (
  path TEXT PRIMARY KEY,
  host TEXT NOT NULL,
  session_id TEXT,                  -- whose it is; NULL: no person's
  verdict TEXT NOT NULL,            -- session | machine (a subagent's, a reviewer's) | unknown (not a transcript as it was then)
  started_ms INTEGER,               -- when the host says that it was begun; orders the files of a session
  device INTEGER NOT NULL,          -- these four: the file as it was when it was last read to its end or judged; size -1: never
  inode INTEGER NOT NULL,
  size INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  problem TEXT,                     -- code of why it cannot be read as it is
  updated_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX transcripts_session ON transcripts (session_id) WHERE session_id IS NOT NULL;
INSERT INTO transcripts (path, host, session_id, verdict, device, inode, size, mtime_ns, updated_ms)
  SELECT path, host, session_id, 'session', device, inode, -1, 0, updated_ms FROM cursors;

CREATE TABLE worker_leases (
  name TEXT PRIMARY KEY,            -- what only one process may do at a time
  owner TEXT NOT NULL,
  until_ms INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX events_cut ON events (session_id, parent_id) WHERE kind = 'turn_cut';
CREATE INDEX events_hook_only ON events (session_id) WHERE completeness = 'hook_only';
"""

HELD = """
CREATE TABLE held_cards (
  project_id TEXT NOT NULL,         -- of the sessions that are not given the card: a global card can be held in one project only
  host TEXT NOT NULL,
  lesson_id TEXT NOT NULL,
  revision INTEGER NOT NULL,        -- whose must_do the host's own memory holds; another revision is given
  PRIMARY KEY (project_id, host, lesson_id)
) WITHOUT ROWID;
"""

TYPED = """
ALTER TABLE grains ADD COLUMN subject TEXT;            -- what it is about, where it says so; of a lesson its id
ALTER TABLE grains ADD COLUMN relation TEXT;
ALTER TABLE grains ADD COLUMN head INTEGER NOT NULL DEFAULT 0; -- 1: the newest of its thing; 2: one of several, the copies disagree
UPDATE grains SET subject = json_extract(fields_json, '$.subject') WHERE json_type(fields_json, '$.subject') = 'text';
UPDATE grains SET relation = json_extract(fields_json, '$.relation') WHERE subject IS NOT NULL AND json_type(fields_json, '$.relation') = 'text';
UPDATE grains SET subject = json_extract(fields_json, '$.lesson_id'), relation = 'lesson' WHERE type = 'lesson';
UPDATE grains SET head = 1 WHERE hash IN (SELECT hash FROM heads);
UPDATE grains SET head = 2 WHERE hash IN (
  SELECT hash FROM heads AS one
  WHERE 1 < (SELECT count(*) FROM heads AS each WHERE each.ns = one.ns AND each.subject = one.subject AND each.relation = one.relation)
);
DROP TABLE heads;
CREATE INDEX grains_subject ON grains (ns, subject, relation) WHERE subject IS NOT NULL;
CREATE INDEX grains_fork ON grains (ns, subject, relation) WHERE head = 2;
CREATE INDEX grains_by ON grains (superseded_by) WHERE superseded_by IS NOT NULL;
DROP INDEX grains_live;
DROP INDEX grains_call;
CREATE INDEX grains_type ON grains (type, created_ms);
CREATE INDEX grains_tool ON grains (ns, tool_name, created_ms) WHERE tool_name IS NOT NULL;
CREATE INDEX grains_call ON grains (call_id) WHERE call_id IS NOT NULL;
CREATE INDEX grains_session ON grains (session_id, created_ms) WHERE session_id IS NOT NULL;

CREATE VIRTUAL TABLE terms USING fts5 (body, content = '', tokenize = "ascii tokenchars '_./:@#+-'");
CREATE VIRTUAL TABLE term_rows USING fts5vocab (terms, 'row');

CREATE TABLE operations (             -- what happened to grains beside being added, in order
  n INTEGER PRIMARY KEY,
  after_seq INTEGER NOT NULL,         -- the last grain that was there then
  op TEXT NOT NULL,                   -- supersede | link | unlink | retract | restore | forget | merge
  hash TEXT NOT NULL,
  other TEXT,                         -- what took its place
  at_ms INTEGER NOT NULL,
  heads TEXT                          -- the heads of its thing before, and of the thing of what took its place; NULL: it was the only one
);

CREATE INDEX operations_hash ON operations (hash);

CREATE TABLE tombstones (             -- values that stay out; a keyed hash of what they look like, never their words
  value_hash TEXT PRIMARY KEY,
  at_ms INTEGER NOT NULL
) WITHOUT ROWID;
"""

KINDS = """
DROP INDEX grains_type;
DROP INDEX grains_ns;
-- Facts and calls of tools are nearly all grains and are found by what they are about: every index less is a page less that each of them writes.
CREATE INDEX grains_kind ON grains (ns, type, created_ms) WHERE type NOT IN ('fact', 'tool');
"""

HALVES = """
CREATE TABLE grains_halved (
  seq INTEGER PRIMARY KEY,
  hash TEXT NOT NULL,                 -- the address; its first half is unique: see grains_address
  type TEXT NOT NULL,
  ns TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  superseded_by TEXT,
  derived_from TEXT,
  tool_name TEXT,
  is_error INTEGER,
  signature TEXT,                     -- of an error text, for counting alike failures
  call_id TEXT,
  session_id TEXT,
  subject TEXT,                       -- what it is about, where it says so; of a lesson its id
  relation TEXT,
  head INTEGER NOT NULL DEFAULT 0,    -- 1: the newest of its thing; 2: one of several, the copies disagree
  fields_json TEXT NOT NULL
);
INSERT INTO grains_halved SELECT seq, hash, type, ns, created_ms, superseded_by, derived_from, tool_name, is_error, signature, call_id, session_id,
  subject, relation, head, fields_json FROM grains ORDER BY seq;
DROP TABLE grains;
ALTER TABLE grains_halved RENAME TO grains;
-- Addresses come in no order, so that nearly every grain writes a page of this index: half of their digits make it half as large.
CREATE UNIQUE INDEX grains_address ON grains (substr(hash, 1, 32));
CREATE INDEX grains_subject ON grains (ns, subject, relation) WHERE subject IS NOT NULL;
CREATE INDEX grains_fork ON grains (ns, subject, relation) WHERE head = 2;
CREATE INDEX grains_by ON grains (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX grains_kind ON grains (ns, type, created_ms) WHERE type NOT IN ('fact', 'tool');
CREATE INDEX grains_tool ON grains (ns, tool_name, created_ms) WHERE tool_name IS NOT NULL;
CREATE INDEX grains_call ON grains (call_id) WHERE call_id IS NOT NULL;
CREATE INDEX grains_session ON grains (session_id, created_ms) WHERE session_id IS NOT NULL;
"""
