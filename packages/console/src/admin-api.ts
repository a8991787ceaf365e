// Written by `npm run generate` from config/admin.openapi.yaml, which says what the fields mean. Times are RFC 3339.

export interface ContractCopy {
  readonly fetched: string;
  readonly reason: string;
}

export interface Error {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly details?: readonly {
    readonly in: string;
    readonly pointer: string;
    readonly message: string;
    readonly rule?: string;
    readonly limit?: unknown;
  }[];
}

export interface PeerCoverage {
  readonly unresponsive: readonly string[];
  readonly isolated: string | null;
}

export interface CountingGateway {
  readonly gateway: string;
  readonly since: string;
  readonly missing: number;
}

export type Readiness = 'ready' | 'stopping' | 'state_down' | 'upstreams_down' | 'no_workers';

export interface Outcomes {
  readonly requests: number;
  readonly admitted: number;
  readonly limited: number;
  readonly banned: number;
  readonly classes: {
    readonly '2xx': number;
    readonly '3xx': number;
    readonly '4xx': number;
    readonly '5xx': number;
    readonly aborted: number;
  };
}

export interface Latency {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

export interface Connections {
  readonly open: number;
  readonly idle: number;
  readonly waiting: number;
  readonly limit: number;
}

export interface Gateway {
  readonly gateway: string;
  readonly version: string;
  readonly node: string;
  readonly started: string;
  readonly uptime: number;
  readonly url: string | null;
  readonly adminUrl: string | null;
  readonly readiness: Readiness;
  readonly state: string;
  readonly workers: number;
  readonly inFlight: number;
  readonly processes: readonly Process[];
  readonly backends: readonly Backend[];
  readonly configuration: Configuration;
}

export interface StateOutage {
  readonly begin: string;
  readonly end: string;
  readonly policies: readonly ('local' | 'deny' | 'allow')[];
}

export interface HistoryStep extends Outcomes, Latency {
  readonly at: string;
  readonly minutes: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly outagePolicies: readonly ('local' | 'deny' | 'allow')[];
}

export interface LiveNow extends Outcomes, PeerCoverage {
  readonly at: string;
  readonly span: number;
  readonly latency: Latency & { readonly span: number };
  readonly inFlight: number;
  readonly gateways: readonly LiveGateway[];
  readonly backends: readonly Backend[];
}

export interface BackendWithProcesses extends Backend {
  readonly processes: readonly BackendOfProcess[];
}

export interface Backend {
  readonly upstream: string;
  readonly backend: string;
  readonly weight: number;
  readonly state: 'up' | 'recovering' | 'down' | 'partial';
  readonly since: string;
  readonly reason: string | null;
  readonly total: number;
  readonly down: number;
  readonly inFlight: number;
  readonly requests: number;
  readonly failures: number;
  readonly retries: number;
  readonly connections: Connections;
}

export interface BackendOfProcess {
  readonly gateway: string;
  readonly worker: number | null;
  readonly state: 'up' | 'recovering' | 'down';
  readonly since: string;
  readonly reason: string | null;
  readonly inFlight: number;
  readonly requests: number;
  readonly failures: number;
  readonly retries: number;
  readonly connections: Connections;
}

export interface LiveGateway {
  readonly gateway: string;
  readonly readiness: Readiness;
  readonly state: string;
  readonly localSince: string | null;
  readonly stateMs: number | null;
  readonly workers: number;
  readonly processes: number;
  readonly inFlight: number;
  readonly requests: number;
  readonly backend: Connections;
}

export interface LiveRefused extends PeerCoverage {
  readonly requests: readonly RefusedRequest[];
  readonly omitted: number;
}

export interface TopItem {
  readonly key: string | null;
  readonly account: string | null;
  readonly plan: string | null;
  readonly operation: string | null;
  readonly count: number;
  readonly error: number;
  readonly share: number;
  readonly last: string;
}

export interface Process {
  readonly worker: number | null;
  readonly pid: number;
  readonly inFlight: number;
  readonly memory: number;
  readonly localSince: string | null;
  readonly stateMs: number | null;
  readonly backend: Connections;
}

export interface Configuration {
  readonly settings: string;
  readonly plans: string;
  readonly contract: string;
  readonly contractCopy: ContractCopy | null;
  readonly differs: readonly ('settings' | 'plans' | 'contract')[];
  readonly pendingRestart: readonly string[];
  readonly lastReload: { readonly at: string; readonly reason: string; readonly problems: readonly string[] } | null;
}

export interface SettingDiff {
  readonly name: string;
  readonly inForce: string;
  readonly inFiles: string;
  readonly source: string;
  readonly restart: boolean;
  readonly masked: boolean;
}

export interface PlanDiff {
  readonly name: string;
  readonly inForce: PlanLimits | null;
  readonly inFiles: PlanLimits | null;
}

export interface PlanLimits {
  readonly count: 'key' | 'account';
  readonly limits: string | null;
  readonly concurrency: number | null;
  readonly weight: number;
  readonly addresses: PlanAddresses | null;
}

export interface AccountDiff {
  readonly name: string;
  readonly inForce: string | null;
  readonly inFiles: string | null;
}

export interface BansDiff {
  readonly inForce: BanEscalation | null;
  readonly inFiles: BanEscalation | null;
}

export interface ContractDiff {
  readonly inForce: ContractSummary;
  readonly inFiles: ContractSummary;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

export interface ContractSummary {
  readonly title: string;
  readonly version: string;
  readonly digest: string;
  readonly operations: number;
}

export interface RefusedRequest {
  readonly id: string;
  readonly gateway: string;
  readonly worker: number | null;
  readonly at: string;
  readonly method: string;
  readonly operation: string;
  readonly status: number;
  readonly complete: boolean;
  readonly step: Step;
  readonly code: string | null;
  readonly message: string | null;
  readonly key: {
    readonly id: string;
    readonly account: string;
    readonly plan: string;
    readonly subject: string | null;
  } | null;
  readonly address: string;
  readonly repeated: number;
}

export type Step = 'http' | 'pages' | 'authenticate' | 'usage' | 'admit' | 'contract' | 'backend' | null;

export interface ExplainedRequest extends RefusedRequest {
  readonly path: string | null;
  readonly reason: string | null;
  readonly traceparent: string | null;
  readonly decision: Decision | null;
  readonly windows: readonly ExplainedWindow[];
  readonly faults: readonly Faults[];
  readonly body: { readonly declared: number | null; readonly received: number };
  readonly backend: {
    readonly attempts: number;
    readonly target?: { readonly upstream: string; readonly backend: string } | null;
    readonly head: number | null;
  } | null;
  readonly outage: string | null;
  readonly times: {
    readonly authenticated: number | null;
    readonly admitted: number | null;
    readonly forwarded: number | null;
    readonly answered: number | null;
    readonly total: number;
  };
}

export interface Decision {
  readonly verdict: 'admitted' | 'limited' | 'banned';
  readonly by: 'state' | 'memory' | 'local';
  readonly cost: number;
  readonly violated: string | null;
  readonly retryAt: string | null;
  readonly retryAfter: number | null;
  readonly strikes: number;
  readonly strikesToBan: number | null;
  readonly bannedUntil: string | null;
  readonly banStarted: boolean;
  readonly level: number | null;
}

export interface ExplainedWindow {
  readonly name: string;
  readonly kind: 'fixed' | 'sliding';
  readonly limit: number;
  readonly before: number;
  readonly after: number;
  readonly resetAt: string;
}

export interface Faults {
  readonly side: 'request' | 'response';
  readonly reportOnly: boolean;
  readonly count: number;
  readonly faults: readonly {
    readonly in: 'path' | 'query' | 'header' | 'cookie' | 'body';
    readonly pointer: string;
    readonly rule: string;
  }[];
}

export type KeyStatus = 'active' | 'disabled' | 'expired' | 'revoked';

export type Role = 'read' | 'operate' | 'admin';

export interface Plan {
  readonly name: string;
  readonly count: 'key' | 'account';
  readonly limits: string | null;
  readonly concurrency: number | null;
  readonly weight: number;
  readonly addresses: PlanAddresses | null;
  readonly keys: number | null;
}

export interface PlanDraft {
  readonly limits?: string | null;
  readonly drop?: readonly string[];
  readonly count?: 'key' | 'account';
  readonly concurrency?: number | null;
  readonly weight?: number;
  readonly addresses?: { readonly allow?: readonly string[]; readonly deny?: readonly string[] } | null;
}

export interface PlanAddresses {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

export type Metadata = Readonly<Record<string, string>>;

export interface NewKey {
  readonly account: string;
  readonly plan: string;
  readonly label?: string | null;
  readonly limits?: string | null;
  readonly expires?: string | null;
  readonly expiresIn?: string;
  readonly addresses?: readonly string[] | null;
  readonly scopes?: readonly string[];
  readonly metadata?: Metadata;
  readonly env?: string;
}

export interface ImportedKey {
  readonly hash: string;
  readonly account: string;
  readonly plan: string;
  readonly label?: string | null;
  readonly limits?: string | null;
  readonly expires?: string | null;
  readonly expiresIn?: string;
  readonly addresses?: readonly string[] | null;
  readonly scopes?: readonly string[];
  readonly metadata?: Metadata;
}

export interface ManyImportedKeys {
  readonly keys: readonly {
    readonly hash: string;
    readonly account: string;
    readonly plan: string;
    readonly label?: string | null;
    readonly limits?: string | null;
    readonly expires?: string | null;
    readonly addresses?: readonly string[] | null;
    readonly scopes?: readonly string[];
    readonly metadata?: Metadata;
    readonly disabled?: boolean;
  }[];
  readonly dryRun?: boolean;
  readonly skipBad?: boolean;
}

export interface ImportReport {
  readonly dryRun: boolean;
  readonly imported: number;
  readonly already: number;
  readonly bad: readonly { readonly index: number; readonly field: string; readonly message: string }[];
}

export interface KeyUpdate {
  readonly plan?: string;
  readonly label?: string | null;
  readonly limits?: string | null;
  readonly expires?: string | null;
  readonly expiresIn?: string;
  readonly addresses?: readonly string[] | null;
  readonly scopes?: readonly string[];
  readonly metadata?: Metadata;
}

export interface Key {
  readonly id: string;
  readonly account: string;
  readonly plan: string;
  readonly label: string | null;
  readonly limits: string | null;
  readonly status: KeyStatus;
  readonly created: string;
  readonly expires: string | null;
  readonly disabled: string | null;
  readonly revoked: string | null;
  readonly lastUsed: string | null;
  readonly addresses: readonly string[] | null;
  readonly scopes: readonly string[];
  readonly history?: BanRecord;
  readonly metadata: Metadata;
  readonly imported: boolean;
  readonly asOf?: string;
  readonly rotation: { readonly at: string; readonly overlapEnds: string | null } | null;
}

export interface KeyWithSecret extends Key {
  readonly key: string;
}

export interface Account {
  readonly account: string;
  readonly limits: string | null;
  readonly keys: number;
  readonly active: number;
  readonly plans: readonly string[];
}

export interface BanEscalation {
  readonly strikes: number;
  readonly window: string;
  readonly workers: number;
  readonly grace: string;
  readonly durations: readonly string[];
  readonly decay: string;
}

export interface NewBan {
  readonly duration: string;
  readonly reason: string;
}

export interface Ban {
  readonly subject: string;
  readonly key: string | null;
  readonly account: string | null;
  readonly plan: string | null;
  readonly since: string | null;
  readonly until: string;
  readonly limit: string | null;
  readonly level: number | null;
  readonly nextDuration: string | null;
  readonly resetsAt: string | null;
  readonly reason: string | null;
  readonly by: string | null;
  readonly history?: BanRecord;
}

export interface BanRecord {
  readonly bans: number;
  readonly lifted: { readonly at: string; readonly by: string } | null;
}

export interface BanEntry {
  readonly number: number;
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: {
    readonly plan?: string | null;
    readonly until?: string | null;
    readonly level?: number;
  } | null;
  readonly requestId: string;
  readonly reason: string | null;
  readonly ended: {
    readonly at: string;
    readonly how: 'expired' | 'lifted' | 'extended' | 'replaced' | 'failed';
    readonly by: string | null;
  } | null;
}

export interface Usage {
  readonly subject: string;
  readonly key: string | null;
  readonly account: string;
  readonly plan: string;
  readonly windows: readonly UsageWindow[];
  readonly banned: string | null;
  readonly strikes: number;
  readonly level: number;
  readonly history?: BanRecord;
}

export interface UsageWindow {
  readonly name: string;
  readonly kind: 'fixed' | 'sliding';
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  readonly resets: string | null;
}

export interface PlanSimulation {
  readonly plan: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly concurrency: number | null;
  readonly weight: number;
  readonly addresses: PlanAddresses | null;
  readonly keys: number;
  readonly overLimit: readonly string[];
  readonly unusable: readonly string[];
  readonly lastDay?: LastDay | null;
}

export interface LastDay {
  readonly since: string | null;
  readonly requests: { readonly admitted: number; readonly refused: number };
  readonly windows: readonly SimulatedWindow[];
  readonly subjects: readonly RefusedSubject[];
  readonly gateways: readonly CountingGateway[];
  readonly unresponsive: readonly string[];
  readonly isolated: string | null;
}

export interface SimulatedWindow {
  readonly name: string;
  readonly kind: 'fixed' | 'sliding';
  readonly limit: number;
  readonly counted: boolean;
  readonly since: string | null;
  readonly floor: number | null;
  readonly local: boolean;
  readonly limited: number;
  readonly refused: { readonly least: number; readonly most: number | null } | null;
}

export interface RefusedSubject {
  readonly key: string | null;
  readonly account: string;
  readonly windows: readonly {
    readonly window: string;
    readonly peak: number;
    readonly began: string;
    readonly times: number;
    readonly refused: RefusedUnits;
  }[];
}

export interface RefusedUnits {
  readonly least: number;
  readonly most: number | null;
}

export interface Setting {
  readonly name: string;
  readonly value: string;
  readonly source: string;
  readonly restart: boolean;
}

export interface Entry {
  readonly number: number;
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
  readonly requestId: string;
  readonly reason: string | null;
}

export interface Token {
  readonly name: string;
  readonly role: Role;
  readonly created: string;
}

export interface TokenWithSecret {
  readonly name: string;
  readonly role: Role;
  readonly created: string;
  readonly token: string;
}

export interface WebhookEndpoint {
  readonly id: string;
  readonly host: string;
  readonly events: readonly string[];
  readonly status: 'new' | 'ok' | 'failing' | 'disabled';
  readonly pending: number;
  readonly oldestPending: string | null;
  readonly failingSince: string | null;
  readonly failures: number;
  readonly error: string | null;
  readonly delivered: string | null;
  readonly pausedUntil: string | null;
  readonly dropped: number;
}

export interface WebhookTest {
  readonly id: string;
  readonly host: string;
  readonly delivered: boolean;
  readonly status: number | null;
  readonly error: string | null;
  readonly duration: number;
}

export interface Keys {
  readonly keys: readonly Key[];
  readonly next: string | null;
  readonly asOf?: string;
}

export interface Accounts {
  readonly accounts: readonly Account[];
  readonly next: string | null;
}

export interface Plans {
  readonly plans: readonly Plan[];
  readonly public: readonly Plan[];
  readonly bans: BanEscalation | null;
}

export interface Bans {
  readonly bans: readonly Ban[];
  readonly asOf?: string;
}

export interface BanHistory {
  readonly entries: readonly BanEntry[];
  readonly next: number | null;
}

export interface UsageList {
  readonly usage: readonly Usage[];
}

export interface Config {
  readonly settings: readonly Setting[];
}

export interface Status extends PeerCoverage {
  readonly gateways: readonly Gateway[];
  readonly lost: readonly { readonly gateway: string; readonly at: string }[];
}

export interface Backends extends PeerCoverage {
  readonly backends: readonly BackendWithProcesses[];
}

export interface ConfigDiff {
  readonly settings: readonly SettingDiff[];
  readonly plans: readonly PlanDiff[];
  readonly accounts: readonly AccountDiff[];
  readonly bans: BansDiff | null;
  readonly contract: ContractDiff | null;
}

export interface Top extends PeerCoverage {
  readonly window: 'minute' | 'hour' | 'day';
  readonly by: 'requests' | 'refused' | 'near-limit' | 'strikes' | 'deprecated' | 'operations';
  readonly since: string | null;
  readonly total: number;
  readonly error: number;
  readonly items: readonly TopItem[];
  readonly gateways: readonly CountingGateway[];
}

export interface History extends PeerCoverage {
  readonly step: string;
  readonly since: string | null;
  readonly steps: readonly HistoryStep[];
  readonly outages: readonly StateOutage[];
  readonly gateways: readonly string[];
  readonly lost: readonly { readonly gateway: string; readonly at: string }[];
}

export interface Requests extends PeerCoverage {
  readonly requests: readonly RefusedRequest[];
}

export interface Reload {
  readonly contractCopy: ContractCopy | null;
  readonly changed: readonly string[];
  readonly needRestart: readonly string[];
}

export interface Audit {
  readonly entries: readonly Entry[];
  readonly next: number | null;
}

export interface Tokens {
  readonly tokens: readonly Token[];
}

export interface Webhooks {
  readonly endpoints: readonly WebhookEndpoint[];
}

export interface WebhookTests {
  readonly tests: readonly WebhookTest[];
}

/** The answer of each operation. */
export interface Answers {
  readonly listKeys: Keys;
  readonly createKey: KeyWithSecret;
  readonly importKey: Key;
  readonly importKeys: ImportReport;
  readonly identifyKey: Key;
  readonly getKey: Key;
  readonly updateKey: Key;
  readonly revokeKey: Key;
  readonly disableKey: Key;
  readonly enableKey: Key;
  readonly rotateKey: KeyWithSecret;
  readonly listAccounts: Accounts;
  readonly getAccount: Account;
  readonly listKeysOfAccount: Keys;
  readonly listPlans: Plans;
  readonly getPlan: Plan;
  readonly setPlan: PlanSimulation;
  readonly simulatePlan: PlanSimulation;
  readonly listBans: Bans;
  readonly listBanHistory: BanHistory;
  readonly addBan: Bans;
  readonly liftBan: UsageList;
  readonly extendBan: Bans;
  readonly getUsage: UsageList;
  readonly resetUsage: UsageList;
  readonly grantUsage: UsageList;
  readonly getStatus: Status;
  readonly listBackends: Backends;
  readonly getTop: Top;
  readonly getHistory: History;
  readonly followLive: null;
  readonly listRequests: Requests;
  readonly explainRequest: ExplainedRequest;
  readonly getConfig: Config;
  readonly diffConfig: ConfigDiff;
  readonly reload: Reload;
  readonly listAudit: Audit;
  readonly listTokens: Tokens;
  readonly createToken: TokenWithSecret;
  readonly revokeToken: Token;
  readonly listWebhooks: Webhooks;
  readonly getWebhookSchema: Readonly<Record<string, unknown>>;
  readonly testWebhooks: WebhookTests;
}

/** The request of each operation: its method and path, the names in its query, and its body. */
export interface Calls {
  readonly listKeys: {
    readonly request: `GET /keys`;
    readonly query: 'find' | 'sort' | 'account' | 'plan' | 'status' | 'scope' | 'label' | 'limit' | 'after';
  };
  readonly createKey: { readonly request: `POST /keys`; readonly body: NewKey };
  readonly importKey: { readonly request: `POST /keys/import`; readonly body: ImportedKey };
  readonly importKeys: { readonly request: `POST /keys/import-many`; readonly body: ManyImportedKeys };
  readonly identifyKey: { readonly request: `POST /keys/identify`; readonly body: { readonly key: string } };
  readonly getKey: { readonly request: `GET /keys/${string}` };
  readonly updateKey: { readonly request: `PATCH /keys/${string}`; readonly body: KeyUpdate };
  readonly revokeKey: { readonly request: `DELETE /keys/${string}` };
  readonly disableKey: { readonly request: `POST /keys/${string}/disable` };
  readonly enableKey: { readonly request: `POST /keys/${string}/enable` };
  readonly rotateKey: {
    readonly request: `POST /keys/${string}/rotate`;
    readonly body: { readonly overlap?: string; readonly env?: string; readonly force?: boolean };
  };
  readonly listAccounts: { readonly request: `GET /accounts`; readonly query: 'limit' | 'after' };
  readonly getAccount: { readonly request: `GET /accounts/${string}` };
  readonly listKeysOfAccount: { readonly request: `GET /accounts/${string}/keys`; readonly query: 'limit' | 'after' };
  readonly listPlans: { readonly request: `GET /plans` };
  readonly getPlan: { readonly request: `GET /plans/${string}` };
  readonly setPlan: { readonly request: `PUT /plans/${string}`; readonly body: PlanDraft };
  readonly simulatePlan: { readonly request: `POST /plans/${string}/simulate`; readonly body: PlanDraft };
  readonly listBans: { readonly request: `GET /bans` };
  readonly listBanHistory: {
    readonly request: `GET /ban-history`;
    readonly query: 'subject' | 'since' | 'limit' | 'below';
  };
  readonly addBan: { readonly request: `PUT /bans/${string}`; readonly body: NewBan };
  readonly liftBan: { readonly request: `DELETE /bans/${string}` };
  readonly extendBan: { readonly request: `POST /bans/${string}/extend`; readonly body: NewBan };
  readonly getUsage: { readonly request: `GET /usage/${string}` };
  readonly resetUsage: { readonly request: `POST /usage/${string}/reset` };
  readonly grantUsage: {
    readonly request: `POST /usage/${string}/grant`;
    readonly body: { readonly units: number; readonly window?: string };
  };
  readonly getStatus: { readonly request: `GET /status` };
  readonly listBackends: { readonly request: `GET /backends` };
  readonly getTop: { readonly request: `GET /top`; readonly query: 'window' | 'by' | 'limit' };
  readonly getHistory: {
    readonly request: `GET /history`;
    readonly query: 'since' | 'step' | 'operation' | 'plan';
  };
  readonly followLive: { readonly request: `GET /live`; readonly query: 'event' | 'key' | 'account' | 'code' };
  readonly listRequests: {
    readonly request: `GET /requests`;
    readonly query: 'key' | 'account' | 'code' | 'limit';
  };
  readonly explainRequest: { readonly request: `GET /requests/${string}` };
  readonly getConfig: { readonly request: `GET /config` };
  readonly diffConfig: { readonly request: `GET /config/diff` };
  readonly reload: { readonly request: `POST /reload`; readonly query: 'dryRun' };
  readonly listAudit: {
    readonly request: `GET /audit`;
    readonly query: 'actor' | 'action' | 'target' | 'limit' | 'below' | 'above' | 'since';
  };
  readonly listTokens: { readonly request: `GET /tokens` };
  readonly createToken: {
    readonly request: `POST /tokens`;
    readonly body: { readonly name: string; readonly role: Role };
  };
  readonly revokeToken: { readonly request: `DELETE /tokens/${string}` };
  readonly listWebhooks: { readonly request: `GET /webhooks` };
  readonly getWebhookSchema: { readonly request: `GET /webhooks/schema` };
  readonly testWebhooks: {
    readonly request: `POST /webhooks/test`;
    readonly body: { readonly endpoint?: string };
  };
}
