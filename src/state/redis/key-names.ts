import { DAY, MINUTE } from '../../common/time.ts';

/**
 * All key names in Redis, with their lifetimes. No other file contains the prefix.
 *
 * | name | holds | lifetime |
 * |---|---|---|
 * | `sg:s:{<subject>}` | counters of a subject: a hash | until they equal empty counters |
 * | `sg:k:{<hash>}` | record of an API key: JSON | unlimited |
 * | `sg:i:{<id>}` | hash of the key with this id | unlimited |
 * | `sg:o:{<name>}` | answer to an idempotent call, or a mark that a ban was logged: JSON | 24 hours |
 * | `sg:audit` | newest entries of the audit log: a list of JSON | unlimited; at most `audit.maxEntries` |
 * | `sg:{sg:audit}:dropped` | number of dropped entries; the braces select the slot of `sg:audit` | unlimited |
 * | `sg:{sg:audit}:bans` | newest entries of the log of bans, in the same format and slot | unlimited; bounded by `audit.bans` |
 * | `sg:{sg:audit}:bans:dropped` | number of dropped entries | unlimited |
 * | `sg:tokens` | tokens of operators: a hash of JSON by name | unlimited |
 * | `sg:used` | last use of each key: a sorted set of ids | unlimited |
 * | `sg:imported` | 1 after the first import of another system's key | unlimited |
 * | `sg:mark` | text that shows that this Redis has its data | unlimited |
 * | `sg:keys` | ids of all keys: a sorted set by creation time | unlimited |
 * | `sg:g` | running gateways: a sorted set by last announcement | 1 minute after the last announcement |
 * | `sg:fleet` | gateways that accept queries: a sorted set by last announcement | 1 day after the last announcement; the newest 1,000 |
 * | `sg:l:{<name>}` | lock on a key, token or call; empty | `LOCK_LIFE` |
 * | `sg:bans` | banned subjects, and some that were pardoned: a sorted set by end of the ban | until the last ban ends |
 * | `sg:bans:whole` | 1 after bans older than `sg:bans` were added to it | unlimited |
 * | `sg:{sg:webhooks}:names` | events already queued: a sorted set by expiry | unlimited; at most `MOST_NAMES` |
 * | `sg:{sg:webhooks}:told` | time of each of them: a hash | as `names` |
 * | `sg:{sg:webhooks}:counter` | number of jobs ever created | unlimited |
 * | `sg:{sg:webhooks}:marks` | progress in the audit log and in the search for expiring keys: a hash | unlimited |
 * | `sg:{sg:webhooks}:due:<endpoint>` | jobs of a receiver: a sorted set by next attempt | `OUTBOX_LIFE` after the last job |
 * | `sg:{sg:webhooks}:came:<endpoint>` | the same jobs by creation | as `due` |
 * | `sg:{sg:webhooks}:jobs:<endpoint>` | content and attempts of jobs: a hash | as `due` |
 * | `sg:{sg:webhooks}:standing:<endpoint>` | last result of the receiver: a hash | `OUTBOX_LIFE` after the last attempt |
 * | `sg:probe:{<subject>}` | probe for writes; empty | `PROBE_LIFE` |
 *
 * In a Cluster, only the text in braces decides the slot of a key.
 */
const PREFIX = 'sg:';

/** Milliseconds. Longer than any successful change: each of its steps takes less than one lock lifetime. */
export const PROBE_TTL = 1_000;
export const LOCK_TTL = 10_000;
/** Milliseconds until a silent gateway is not counted, and until the list expires without announcements. */
export const GATEWAY_TTL = 10_000;
export const GATEWAYS_TTL = MINUTE;
/** Milliseconds for which a gateway without a clean stop is remembered. */
export const PEER_MEMORY = DAY;
/** Milliseconds. Longer than any event is retried. Data of removed receivers expires after this time. */
export const OUTBOX_TTL = 30 * DAY;

const OUTBOX = `${PREFIX}{${PREFIX}webhooks}`;

export const keyOf = {
  ledger: (subject: string) => `${PREFIX}s:{${subject}}`,
  probe: (subject: string) => `${PREFIX}probe:{${subject}}`,
  apiKey: (hash: string) => `${PREFIX}k:{${hash}}`,
  apiKeyId: (id: string) => `${PREFIX}i:{${id}}`,
  idempotentAnswer: (name: string) => `${PREFIX}o:{${name}}`,
  lock: (name: string) => `${PREFIX}l:{${name}}`,
  audit: `${PREFIX}audit`,
  auditDropped: `${PREFIX}{${PREFIX}audit}:dropped`,
  banLog: `${PREFIX}{${PREFIX}audit}:bans`,
  banLogDropped: `${PREFIX}{${PREFIX}audit}:bans:dropped`,
  tokens: `${PREFIX}tokens`,
  used: `${PREFIX}used`,
  imported: `${PREFIX}imported`,
  dataMark: `${PREFIX}mark`,
  apiKeys: `${PREFIX}keys`,
  bans: `${PREFIX}bans`,
  bansWhole: `${PREFIX}bans:whole`,
  gateways: `${PREFIX}g`,
  fleet: `${PREFIX}fleet`,
  outbox: {
    names: `${OUTBOX}:names`,
    told: `${OUTBOX}:told`,
    counter: `${OUTBOX}:counter`,
    marks: `${OUTBOX}:marks`,
    due: (endpoint: string) => `${OUTBOX}:due:${endpoint}`,
    came: (endpoint: string) => `${OUTBOX}:came:${endpoint}`,
    jobs: (endpoint: string) => `${OUTBOX}:jobs:${endpoint}`,
    standing: (endpoint: string) => `${OUTBOX}:standing:${endpoint}`,
  },
} as const;

/** SCAN pattern of all counters, and the subject in a name. */
export const COUNTER_KEYS = `${PREFIX}s:{*}`;
export const subjectIn = (name: string): string => name.slice(`${PREFIX}s:{`.length, -1);

/** Channel for changes made by gateways. */
export const CHANNEL = `${PREFIX}changes`;

/** Channel for queries between gateways, and the channel for replies to one of them. */
export const QUESTIONS = `${PREFIX}questions`;
export const answersFor = (asker: string): string => `${PREFIX}answers:${asker}`;
