CREATE TABLE journal (
	sequence INTEGER PRIMARY KEY,
	id       TEXT    NOT NULL UNIQUE,
	at       INTEGER NOT NULL, -- milliseconds since 1970
	room     TEXT    NOT NULL,
	kind     TEXT    NOT NULL,
	author   TEXT    NOT NULL,
	scope    TEXT    NOT NULL,
	payload  TEXT    NOT NULL, -- the event as JSON, without its sequence
	sum      INTEGER NOT NULL
, agents TEXT) STRICT;
CREATE INDEX journal_room ON journal (room, sequence);
CREATE INDEX journal_kind ON journal (room, kind, sequence);
CREATE TABLE members ( -- who may see a private event
	sequence INTEGER NOT NULL,
	member   TEXT    NOT NULL,
	PRIMARY KEY (sequence, member)
) STRICT, WITHOUT ROWID;
CREATE TABLE derived ( -- what goes when its source is deleted
	source TEXT NOT NULL,
	event  TEXT NOT NULL,
	PRIMARY KEY (source, event)
) STRICT, WITHOUT ROWID;
CREATE TABLE versions ( -- of the journal and of each projection
	name    TEXT    PRIMARY KEY,
	version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO journal VALUES (1, '01J0000000000000000000001A', 1770091506000, 'desk', 'message', 'ann', 'public', '{"id":"01J0000000000000000000001A","at":"2026-02-03T04:05:06Z","room":"desk","from":{"provider":"console","id":"uid1000"},"author":"ann","visibility":{"scope":"public"},"kind":"message","body":{"text":"The tide is high","revised":"2026-02-03T04:05:06Z"}}', 3198296393, NULL);
INSERT INTO journal VALUES (2, '01J0000000000000000000001B', 1770091506000, 'desk', 'decision', 'ann', 'public', '{"id":"01J0000000000000000000001B","at":"2026-02-03T04:05:06Z","room":"desk","from":{"provider":"console","id":"uid1000"},"author":"ann","visibility":{"scope":"public"},"kind":"decision","body":{"about":"01J0000000000000000000001A","agent":"earshot","verdict":"speak","reasons":["addressed"],"turn":"t1"}}', 2731530094, NULL);
INSERT INTO journal VALUES (3, '01J0000000000000000000001C', 1770091506000, 'desk', 'reply', 'ann', 'public', '{"id":"01J0000000000000000000001C","at":"2026-02-03T04:05:06Z","room":"desk","from":{"provider":"console","id":"uid1000"},"author":"ann","visibility":{"scope":"public"},"sources":["01J0000000000000000000001A"],"kind":"reply","body":{"turn":"t1","about":"01J0000000000000000000001A","outcome":"interrupted","offered":"It is, and it rises","heard":[{"outlet":"console","bytes":5}],"cut":{"by":"ann","signal":"message","at":"2026-02-03T04:05:06Z"}}}', 2078497489, NULL);
INSERT INTO journal VALUES (4, '01J0000000000000000000001D', 1770091506000, 'desk', 'message', 'ann', 'private', '{"id":"01J0000000000000000000001D","at":"2026-02-03T04:05:06Z","room":"desk","from":{"provider":"console","id":"uid1000"},"author":"ann","visibility":{"scope":"private","members":["ann","earshot"]},"kind":"message","body":{"text":"between us"}}', 1782015633, NULL);
INSERT INTO journal VALUES (5, '01J0000000000000000000001E', 1770091506000, 'desk', 'erased', '', 'public', '{"id":"01J0000000000000000000001E","at":"2026-02-03T04:05:06Z","room":"desk","from":{"provider":"","id":""},"visibility":{"scope":"public"},"kind":"erased","body":{"was":"message"}}', 4056536281, NULL);
INSERT INTO journal VALUES (6, '01J0000000000000000000001F', 1770091506000, 'desk', 'presence', 'ann', 'public', '{"id":"01J0000000000000000000001F","at":"2026-02-03T04:05:06Z","room":"desk","from":{"provider":"console","id":"uid1000"},"author":"ann","visibility":{"scope":"public"},"kind":"presence","body":{"session":"tty1","here":true}}', 281782379, NULL);
INSERT INTO journal VALUES (7, '01J0000000000000000000001G', 1770091506000, 'desk', 'notice', 'ann', 'public', '{"id":"01J0000000000000000000001G","at":"2026-02-03T04:05:06Z","room":"desk","from":{"provider":"console","id":"uid1000"},"author":"ann","visibility":{"scope":"public"},"kind":"notice","body":{"key":"llm","text":"gone","cure":"ollama serve"}}', 2983995819, NULL);
INSERT INTO journal VALUES (8, '01J0000000000000000000001H', 1770091506000, 'desk', 'message', 'ann', 'public', '{"id":"01J0000000000000000000001H","at":"2026-02-03T04:05:06Z","room":"desk","from":{"provider":"console","id":"uid1000"},"author":"ann","visibility":{"scope":"public","agents":["coder"]},"kind":"message","body":{"text":"for the coder"}}', 1418266104, '["coder"]');
INSERT INTO journal VALUES (9, '01J0000000000000000000001J', 1770091506000, 'desk', 'memo', 'ann', 'public', '{"id":"01J0000000000000000000001J","at":"2026-02-03T04:05:06Z","room":"desk","from":{"provider":"console","id":"uid1000"},"author":"ann","visibility":{"scope":"public"},"kind":"memo","body":{"text":"springs are high"}}', 4261929114, NULL);
INSERT INTO journal VALUES (10, '01J0000000000000000000001K', 1770091506000, 'desk', 'mode', 'ann', 'public', '{"id":"01J0000000000000000000001K","at":"2026-02-03T04:05:06Z","room":"desk","from":{"provider":"console","id":"uid1000"},"author":"ann","visibility":{"scope":"public"},"kind":"mode","body":{"mode":"muted"}}', 4247626449, NULL);
INSERT INTO journal VALUES (11, '01J0000000000000000000001M', 1770091506000, 'desk', 'actor', 'ann', 'public', '{"id":"01J0000000000000000000001M","at":"2026-02-03T04:05:06Z","room":"desk","from":{"provider":"console","id":"uid1000"},"author":"ann","visibility":{"scope":"public"},"kind":"actor","body":{"act":"created","participant":"bob","name":"Bob","type":"human"}}', 3648515230, NULL);
INSERT INTO journal VALUES (12, '01J0000000000000000000001N', 1770091506000, 'desk', 'agent', 'ann', 'public', '{"id":"01J0000000000000000000001N","at":"2026-02-03T04:05:06Z","room":"desk","from":{"provider":"console","id":"uid1000"},"author":"ann","visibility":{"scope":"public"},"kind":"agent","body":{"act":"created","agent":"coder","path":"/owner/agent/coder","user":"owner","kind":"agent","role":"user","profile":{"name":"Coder","prompt":"You code.","version":2,"auto_reply":true}}}', 4261158381, NULL);
INSERT INTO journal VALUES (13, '01J0000000000000000000001P', 1770091506000, 'desk', 'message', 'earshot', 'public', '{"id":"01J0000000000000000000001P","at":"2026-02-03T04:05:06Z","room":"desk","from":{"provider":"console","id":"uid1000"},"author":"earshot","visibility":{"scope":"public","agents":["earshot","coder"]},"kind":"message","body":{"text":"which tides are low","turn":"t1","about":"01J0000000000000000000001A"}}', 4255406684, '["earshot","coder"]');
INSERT INTO journal VALUES (14, '01J0000000000000000000001Q', 1770091506000, 'desk', 'use', 'ann', 'public', '{"id":"01J0000000000000000000001Q","at":"2026-02-03T04:05:06Z","room":"desk","from":{"provider":"console","id":"uid1000"},"author":"ann","visibility":{"scope":"public"},"kind":"use","body":{"turn":"t1","tool":"message_agent","arguments":"{\"name\":\"Coder\"}","result":"neap tides","took":1000000000}}', 3994459201, NULL);
INSERT INTO journal VALUES (15, '01J0000000000000000000001R', 1770091506000, 'desk', 'reminder', 'ann', 'public', '{"id":"01J0000000000000000000001R","at":"2026-02-03T04:05:06Z","room":"desk","from":{"provider":"console","id":"uid1000"},"author":"ann","visibility":{"scope":"public"},"kind":"reminder","body":{"act":"created","due":"2026-02-03T04:05:06Z","text":"tea"}}', 3924480074, NULL);
INSERT INTO journal VALUES (16, '01J0000000000000000000001S', 1770091506000, 'desk', 'thought', 'ann', 'public', '{"id":"01J0000000000000000000001S","at":"2026-02-03T04:05:06Z","room":"desk","from":{"provider":"console","id":"uid1000"},"author":"ann","visibility":{"scope":"public"},"sources":["01J0000000000000000000001A"],"kind":"thought","body":{"cause":"novelty","about":"01J0000000000000000000001A","text":"it rises every twelve hours","tokens":6,"outcome":"completed"}}', 2043419847, NULL);
INSERT INTO journal VALUES (17, '01J0000000000000000000001T', 1770091506000, 'desk', 'finding', 'ann', 'public', '{"id":"01J0000000000000000000001T","at":"2026-02-03T04:05:06Z","room":"desk","from":{"provider":"console","id":"uid1000"},"author":"ann","visibility":{"scope":"public"},"sources":["01J0000000000000000000001S","01J0000000000000000000001A"],"kind":"finding","body":{"thought":"01J0000000000000000000001S","text":"high again at nine","confidence":0.7,"until":"2026-02-03T04:05:06Z"}}', 3867509524, NULL);
INSERT INTO journal VALUES (18, '01J0000000000000000000001V', 1770091506000, 'desk', 'edit', 'ann', 'public', '{"id":"01J0000000000000000000001V","at":"2026-02-03T04:05:06Z","room":"desk","from":{"provider":"console","id":"uid1000"},"author":"ann","visibility":{"scope":"public"},"kind":"edit","body":{"act":"changed","field":"notes","item":"01J0000000000000000000001J","was":"springs are high","text":"neaps are low"}}', 2353928397, NULL);
INSERT INTO journal VALUES (19, '01J0000000000000000000001W', 1770091506000, 'desk', 'snooze', 'ann', 'public', '{"id":"01J0000000000000000000001W","at":"2026-02-03T04:05:06Z","room":"desk","from":{"provider":"console","id":"uid1000"},"author":"ann","visibility":{"scope":"public"},"kind":"snooze","body":{"until":"2026-02-03T04:05:06Z"}}', 1051683002, NULL);
INSERT INTO journal VALUES (20, '01J0000000000000000000001X', 1770091506000, 'desk', 'utterance', 'ann', 'public', '{"id":"01J0000000000000000000001X","at":"2026-02-03T04:05:06Z","room":"desk","from":{"provider":"console","id":"uid1000"},"author":"ann","visibility":{"scope":"public"},"kind":"utterance","body":{"text":"and who says so","confidence":0.9,"lasted":1000000000,"speaker":{"provider":"voice","id":"3"},"sure":0.8}}', 214037008, NULL);
INSERT INTO journal VALUES (21, '01J0000000000000000000001Y', 1770091506000, 'desk', 'whose', 'ann', 'public', '{"id":"01J0000000000000000000001Y","at":"2026-02-03T04:05:06Z","room":"desk","from":{"provider":"console","id":"uid1000"},"author":"ann","visibility":{"scope":"public"},"sources":["01J0000000000000000000001X"],"kind":"whose","body":{"of":"01J0000000000000000000001X","speaker":{"provider":"voice","id":"4"},"author":"bob","sure":1,"by":"ann"}}', 3227487411, NULL);
INSERT INTO journal VALUES (22, '01J0000000000000000000001Z', 1770091506000, 'desk', 'message', 'ann', 'public', '{"id":"01J0000000000000000000001Z","at":"2026-02-03T04:05:06Z","room":"desk","from":{"provider":"console","id":"uid1000"},"author":"ann","visibility":{"scope":"public"},"kind":"message","body":{"text":"look at this","reply_to":"01J0000000000000000000001A","attachments":[{"name":"tide.png","type":"image/png","size":120000}]}}', 2148201025, NULL);
INSERT INTO journal VALUES (23, '01J00000000000000000000020', 1770091506000, 'desk', 'revision', 'ann', 'public', '{"id":"01J00000000000000000000020","at":"2026-02-03T04:05:06Z","room":"desk","from":{"provider":"console","id":"uid1000"},"author":"ann","visibility":{"scope":"public"},"sources":["01J0000000000000000000001A"],"kind":"revision","body":{"of":"01J0000000000000000000001A","text":"The tide is high"}}', 2627374205, NULL);
INSERT INTO journal VALUES (24, '01J00000000000000000000021', 1770091506000, 'desk', 'withdrawal', 'ann', 'public', '{"id":"01J00000000000000000000021","at":"2026-02-03T04:05:06Z","room":"desk","from":{"provider":"console","id":"uid1000"},"author":"ann","visibility":{"scope":"public"},"kind":"withdrawal","body":{"of":"01J0000000000000000000001E"}}', 1477147703, NULL);
INSERT INTO journal VALUES (25, '01J00000000000000000000022', 1770091506000, 'desk', 'sight', 'ann', 'public', '{"id":"01J00000000000000000000022","at":"2026-02-03T04:05:06Z","room":"desk","from":{"provider":"console","id":"uid1000"},"author":"ann","visibility":{"scope":"public"},"kind":"sight","body":{"camera":"desk","what":"people","people":1,"eyes":"clear","sure":0.8}}', 1565986896, NULL);
INSERT INTO journal VALUES (26, '01J00000000000000000000023', 1770091506000, 'desk', 'sight', 'ann', 'public', '{"id":"01J00000000000000000000023","at":"2026-02-03T04:05:06Z","room":"desk","from":{"provider":"console","id":"uid1000"},"author":"ann","visibility":{"scope":"public"},"kind":"sight","body":{"camera":"desk","what":"code","people":0,"eyes":"clear","text":"https://example.org/tides"}}', 3198110700, NULL);
INSERT INTO members VALUES (4, 'ann');
INSERT INTO members VALUES (4, 'earshot');
INSERT INTO derived VALUES ('01J0000000000000000000001A', '01J0000000000000000000001C');
INSERT INTO derived VALUES ('01J0000000000000000000001A', '01J0000000000000000000001S');
INSERT INTO derived VALUES ('01J0000000000000000000001A', '01J0000000000000000000001T');
INSERT INTO derived VALUES ('01J0000000000000000000001A', '01J00000000000000000000020');
INSERT INTO derived VALUES ('01J0000000000000000000001S', '01J0000000000000000000001T');
INSERT INTO derived VALUES ('01J0000000000000000000001X', '01J0000000000000000000001Y');
INSERT INTO versions VALUES ('journal', 7);
PRAGMA user_version = 7;
