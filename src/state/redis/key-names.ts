import { DAY, MINUTE } from '../../common/time.ts';

/**
 * Every key name in Redis, and how long the key lives. No other file contains the prefix.
 *
 * | name | holds | lives |
 * |---|---|---|
 * | `sg:s:{<subject>}` | ledger of a subject: a hash | until it says no more than an empty one |
 * | `sg:k:{<hash>}` | record of an API key: JSON | for ever: API keys are data, no cache |
 * | `sg:i:{<id>}` | hash of the key with this id | for ever, as the key |
 * | `sg:o:{<name>}` | answer to a call that must not be done twice, or that a ban was written into the log: JSON | 24 hours |
 * | `sg:audit` | the newest entries of the audit log: a list of JSON | for ever; `audit.maxEntries` bounds it |
 * | `sg:{sg:audit}:dropped` | how many older entries there were; in braces so that it is in the slot of `sg:audit` | for ever |
 * | `sg:{sg:audit}:bans` | the newest entries of the log of bans, in the same form and the same slot | for ever; `audit.bans` bounds it |
 * | `sg:{sg:audit}:bans:dropped` | how many older entries there were | for ever |
 * | `sg:tokens` | tokens of operators: a hash of JSON by name | for ever |
 * | `sg:used` | when each key was last used: a sorted set of ids | for ever |
 * | `sg:imported` | 1 once a key of another system was imported | for ever |
 * | `sg:mark` | a text by which gateways know that this Redis has its data | for ever |
 * | `sg:keys` | ids of all keys: a sorted set by time of creation | for ever, as the keys |
 * | `sg:g` | gateways that are running: a sorted set by when each was last heard | 1 minute after the last gateway was heard |
 * | `sg:fleet` | gateways that can be asked how they are: a sorted set by when each was last heard | 1 day after the last gateway was heard; the newest 1,000 |
 * | `sg:l:{<name>}` | nothing: somebody is changing the key or token, or answering the call, of this name | `LOCK_LIFE` |
 * | `sg:bans` | subjects that are banned, and some that were pardoned: a sorted set by the end of the ban | until the last of these bans ends |
 * | `sg:bans:whole` | 1 once `sg:bans` has the bans from before there was such a set | for ever |
 * | `sg:{sg:webhooks}:names` | what was told to receivers of webhooks: a sorted set by the end of its memory | for ever; `MOST_NAMES` bounds it |
 * | `sg:{sg:webhooks}:told` | when each of them was told: a hash | for ever, as the names |
 * | `sg:{sg:webhooks}:counter` | how many events for a receiver there ever were | for ever |
 * | `sg:{sg:webhooks}:marks` | how far the gateways have read the audit log, and looked for keys that end: a hash | for ever |
 * | `sg:{sg:webhooks}:due:<endpoint>` | events for a receiver: a sorted set by when each may be tried | `OUTBOX_LIFE` after the last one |
 * | `sg:{sg:webhooks}:came:<endpoint>` | the same by when they came | as above |
 * | `sg:{sg:webhooks}:jobs:<endpoint>` | what they are, and attempts so far: a hash | as above |
 * | `sg:{sg:webhooks}:standing:<endpoint>` | how the receiver answered last: a hash | `OUTBOX_LIFE` after the last attempt |
 * | `sg:probe:{<subject>}` | nothing: whether Redis takes writes there | `PROBE_LIFE` |
 *
 * In a Cluster, the text in braces alone decides the slot of a key.
 */
const PREFIX = 'sg:';

/** Milliseconds. A lock outlives every change that goes well: each of its steps takes less than one. */
export const PROBE_TTL = 1_000;
export const LOCK_TTL = 10_000;
/** Milliseconds after which a silent gateway no longer counts; and after which their list ends where none is heard. */
export const GATEWAY_TTL = 10_000;
export const GATEWAYS_TTL = MINUTE;
/** Milliseconds for which a gateway that can be asked is remembered if it does not stop by itself. */
export const PEER_MEMORY = DAY;
/** Milliseconds. Longer than any event is tried; of receivers that are no longer in the settings nothing is left then. */
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

/** The names of all ledgers, as a pattern of SCAN; and the subject of one of them. */
export const COUNTER_KEYS = `${PREFIX}s:{*}`;
export const subjectIn = (name: string): string => name.slice(`${PREFIX}s:{`.length, -1);

/** The channel on which gateways tell each other what changed. */
export const CHANNEL = `${PREFIX}changes`;

/** The channel on which gateways ask each other, and the channel on which one of them hears the answers. */
export const QUESTIONS = `${PREFIX}questions`;
export const answersFor = (asker: string): string => `${PREFIX}answers:${asker}`;
