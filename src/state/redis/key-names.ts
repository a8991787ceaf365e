import { DAY, MINUTE } from '../../common/time.ts';
import { ANNOUNCE_INTERVAL } from '../../observe/peers/peers.ts';

/**
 * All key names in Redis. No other file contains the prefix. In a Cluster, only the text in braces
 * decides the slot.
 *
 * | name | holds | lifetime (default: unlimited) |
 * |---|---|---|
 * | `sg:s:{<subject>}` | counters: hash | until they equal empty counters |
 * | `sg:{sg:records}:head` | epoch: format of the data, and text that shows that Redis has it; last numbers of both logs: hash | |
 * | `sg:{sg:records}:keys` | records of API keys by id: hash of JSON | |
 * | `sg:{sg:records}:hashes` | ids of keys by the hashes of their secrets: hash | |
 * | `sg:{sg:records}:tokens` | operators' tokens: hash of JSON by name | |
 * | `sg:{sg:records}:audit` | newest audit entries: stream | bound: `audit.maxEntries` |
 * | `sg:{sg:records}:bans` | newest ban entries: stream | bound: `audit.bans` |
 * | `sg:{sg:records}:result:<name>` | result of an idempotent call, or mark of a logged ban: JSON | 24 hours |
 * | `sg:used` | ids by last use: sorted set | |
 * | `sg:importing` | 1 from the first record to the end of an import of a state | |
 * | `sg:g` | running gateways by last announcement: sorted set | 1 minute after the last announcement |
 * | `sg:fleet` | gateways that accept queries, by last announcement: sorted set | 1 day after the last announcement; newest 1,000 |
 * | `sg:l:{<name>}` | lock on a key, token or call | `LOCK_TTL` |
 * | `sg:bans` | banned subjects, and some whose ban was lifted, by end of the ban: sorted set | until the last ban ends |
 * | `sg:bans:whole` | 1 if `sg:bans` is complete | |
 * | `sg:{sg:webhooks}:events` | newest webhook events: stream | bound: `webhooks.maxPending`; `OUTBOX_TTL` after the last event |
 * | `sg:{sg:webhooks}:types` | their types: list | as `events` |
 * | `sg:{sg:webhooks}:newest` | number of the newest event | |
 * | `sg:{sg:webhooks}:once:<name>` | when an event of this name was stored: hash | until the name is forgotten |
 * | `sg:{sg:webhooks}:marks` | progress of each webhook endpoint, in the audit log and in expiring keys: hash | |
 * | `sg:{sg:usage}:parts` | parts of the minutes of processes by name: hash | until a sum contains them |
 * | `sg:{sg:usage}:taken` | parts of silent processes that a sum contains, with their requests: hash | 40 days after the last one |
 * | `sg:{sg:usage}:sizes` | bytes of the sums by name: hash | |
 * | `sg:{sg:usage}:turn` | token of the gateway that adds up | `3 * LOCK_TTL` |
 * | `sg:{sg:usage}:<sum>` | sum of usage (ledger/names.ts): bytes | bound: `usage.hours`, `usage.days`, `usage.maxBytes` |
 * | `sg:w:<window>:<client>` | uses of a window of client addresses or keys (address-windows.ts): number | the window |
 * | `sg:probe:{<subject>}` | probe for writes | `PROBE_TTL` |
 */
const PREFIX = 'sg:';

/** Milliseconds. A lock outlives every successful change, whose steps take less than 1 ms each. */
export const PROBE_TTL = 1_000;
export const LOCK_TTL = 10_000;
/** Milliseconds: until a silent gateway is not counted; until the list expires. */
export const GATEWAY_TTL = 4 * ANNOUNCE_INTERVAL;
export const GATEWAYS_TTL = MINUTE;
/** Milliseconds for gateways without a clean stop. */
export const PEER_MEMORY = DAY;
/** Milliseconds. Longer than any event is retried. */
export const OUTBOX_TTL = 30 * DAY;

/** The text that decides the slot of all records. */
export const RECORDS_SLOT = `${PREFIX}records`;
const RECORDS = `${PREFIX}{${RECORDS_SLOT}}`;
const USAGE = `${PREFIX}{${PREFIX}usage}`;
const OUTBOX = `${PREFIX}{${PREFIX}webhooks}`;

export const keyOf = {
  counters: (subject: string) => `${PREFIX}s:{${subject}}`,
  windows: (window: string) => `${PREFIX}w:${window}`,
  probe: (subject: string) => `${PREFIX}probe:{${subject}}`,
  records: {
    head: `${RECORDS}:head`,
    keys: `${RECORDS}:keys`,
    hashes: `${RECORDS}:hashes`,
    tokens: `${RECORDS}:tokens`,
    audit: `${RECORDS}:audit`,
    bans: `${RECORDS}:bans`,
    result: (name: string) => `${RECORDS}:result:${name}`,
  },
  /** What earlier formats have in place of `records`. */
  unreleased: ['mark', 'keys', 'tokens', 'audit'].map((name) => PREFIX + name),
  lock: (name: string) => `${PREFIX}l:{${name}}`,
  used: `${PREFIX}used`,
  unfinishedImport: `${PREFIX}importing`,
  bans: `${PREFIX}bans`,
  bansWhole: `${PREFIX}bans:whole`,
  gateways: `${PREFIX}g`,
  peers: `${PREFIX}fleet`,
  usage: {
    parts: `${USAGE}:parts`,
    taken: `${USAGE}:taken`,
    sizes: `${USAGE}:sizes`,
    turn: `${USAGE}:turn`,
    sum: (name: string) => `${USAGE}:${name}`,
  },
  outbox: {
    events: `${OUTBOX}:events`,
    types: `${OUTBOX}:types`,
    newest: `${OUTBOX}:newest`,
    once: (name: string) => `${OUTBOX}:once:${name}`,
    marks: `${OUTBOX}:marks`,
  },
} as const;

export const EVERY_KEY = `${PREFIX}*`;
export const COUNTER_KEYS = `${PREFIX}s:{*}`;
export const subjectIn = (name: string): string =>
  name.slice(`${PREFIX}s:{`.length, -1);

export const CHANNEL = `${PREFIX}changes`;

/** Channel for queries between gateways, and for replies to one gateway. */
export const QUESTIONS = `${PREFIX}questions`;
export const responsesFor = (asker: string): string =>
  `${PREFIX}responses:${asker}`;
