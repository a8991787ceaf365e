// Written by `npm run generate` from the contract of the admin API. It has the meaning of the fields. Times are RFC 3339.

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
    readonly rule?: string | undefined;
    readonly limit?: unknown | undefined;
  }[] | undefined;
}

export interface PeerCoverage {
  readonly unresponsive: readonly string[];
  readonly isolated: string | null;
}

export interface CountingGateway {
  readonly gateway: string;
  readonly since: string;
}

export interface Health {
  readonly status: 'ok' | 'degraded' | 'down';
  readonly since: string | null;
  readonly findings: readonly Finding[];
}

export interface Finding {
  readonly type: string;
  readonly status: 'ok' | 'degraded' | 'down';
  readonly since: string | null;
  readonly gateways: readonly string[];
  readonly text: string;
  readonly action: string;
  readonly cause: string | null;
}

export interface LostGateway {
  readonly gateway: string;
  readonly at: string;
  readonly replaced: string | null;
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

export interface Traffic extends Outcomes {
  readonly durations: Readonly<Record<string, number>>;
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

export interface UsageRow {
  readonly day?: string | undefined;
  readonly hour?: string | undefined;
  readonly minute?: string | undefined;
  readonly account?: string | null | undefined;
  readonly key?: string | null | undefined;
  readonly plan?: string | null | undefined;
  readonly api?: string | null | undefined;
  readonly operation?: string | undefined;
  readonly status?: number | undefined;
  readonly code?: string | null | undefined;
  readonly requests: number;
  readonly units: number;
  readonly refused: number;
  readonly failed: number;
  readonly received: number;
  readonly sent: number;
  readonly within10ms: number;
  readonly within100ms: number;
  readonly within1s: number;
  readonly within10s: number;
  readonly slower: number;
}

export interface TopItem {
  readonly key: string | null;
  readonly account: string | null;
  readonly plan: string | null;
  readonly operation: string | null;
  readonly count: number;
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
  readonly traffic: Traffic;
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
  readonly workers: number | null;
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

export interface KeyCall {
  readonly at: string;
  readonly gateway: string;
  readonly worker: number | null;
  readonly method: string;
  readonly operation: string;
  readonly status: number;
  readonly address: string;
  readonly duration: number;
}

export type Step = 'http' | 'pages' | 'authenticate' | 'usage' | 'admit' | 'contract' | 'backend' | null;

export interface ExplainedRequest extends RefusedRequest {
  readonly path: string | null;
  readonly sentPath: string | null;
  readonly reason: string | null;
  readonly traceparent: string | null;
  readonly decision: Decision | null;
  readonly windows: readonly ExplainedWindow[];
  readonly faults: readonly Faults[];
  readonly body: { readonly declared: number | null; readonly received: number };
  readonly backend: {
    readonly attempts: number;
    readonly target?: { readonly upstream: string; readonly backend: string } | null | undefined;
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
  readonly kind: 'fixed' | 'sliding' | 'calendar';
  readonly limit: number;
  readonly before: number;
  readonly after: number;
  readonly resetAt: string;
  readonly excess: 'watch' | 'overage' | null;
  readonly over: number;
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

export type KeyStatus = 'active' | 'banned' | 'disabled' | 'expired' | 'revoked';

export type Role = 'read' | 'operate' | 'admin';

export interface Plan {
  readonly name: string;
  readonly count: 'key' | 'account';
  readonly limits: string | null;
  readonly concurrency: number | null;
  readonly weight: number;
  readonly workers: number | null;
  readonly addresses: PlanAddresses | null;
  readonly keys: number | null;
  readonly excess?: readonly PlanExcess[] | undefined;
}

export interface PlanExcess {
  readonly window: string;
  readonly excess: 'watch' | 'overage';
  readonly requests: number;
  readonly units: number;
  readonly subjects: number;
}

export interface PlanDraft {
  readonly create?: boolean | undefined;
  readonly limits?: string | null | undefined;
  readonly drop?: readonly string[] | undefined;
  readonly count?: 'key' | 'account' | undefined;
  readonly concurrency?: number | null | undefined;
  readonly weight?: number | undefined;
  readonly workers?: number | null | undefined;
  readonly addresses?: {
    readonly allow?: readonly string[] | undefined;
    readonly deny?: readonly string[] | undefined;
  } | null | undefined;
}

export interface PlanAddresses {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

export type Metadata = Readonly<Record<string, string>>;

export interface NewKey {
  readonly account: string;
  readonly plan: string;
  readonly label?: string | null | undefined;
  readonly limits?: string | null | undefined;
  readonly expires?: string | null | undefined;
  readonly expiresIn?: string | undefined;
  readonly addresses?: readonly string[] | null | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly apis?: readonly string[] | null | undefined;
  readonly metadata?: Metadata | undefined;
  readonly env?: string | undefined;
}

export interface ImportedKey {
  readonly hash: string;
  readonly account: string;
  readonly plan: string;
  readonly label?: string | null | undefined;
  readonly limits?: string | null | undefined;
  readonly expires?: string | null | undefined;
  readonly expiresIn?: string | undefined;
  readonly addresses?: readonly string[] | null | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly apis?: readonly string[] | null | undefined;
  readonly metadata?: Metadata | undefined;
}

export interface ManyImportedKeys {
  readonly keys: readonly {
    readonly hash: string;
    readonly account: string;
    readonly plan: string;
    readonly label?: string | null | undefined;
    readonly limits?: string | null | undefined;
    readonly expires?: string | null | undefined;
    readonly addresses?: readonly string[] | null | undefined;
    readonly scopes?: readonly string[] | undefined;
    readonly apis?: readonly string[] | null | undefined;
    readonly metadata?: Metadata | undefined;
    readonly disabled?: boolean | undefined;
  }[];
  readonly dryRun?: boolean | undefined;
  readonly skipBad?: boolean | undefined;
}

export interface ImportReport {
  readonly dryRun: boolean;
  readonly imported: number;
  readonly already: number;
  readonly bad: readonly { readonly index: number; readonly field: string; readonly message: string }[];
}

export interface KeyUpdate {
  readonly plan?: string | undefined;
  readonly label?: string | null | undefined;
  readonly limits?: string | null | undefined;
  readonly expires?: string | null | undefined;
  readonly expiresIn?: string | undefined;
  readonly addresses?: readonly string[] | null | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly apis?: readonly string[] | null | undefined;
  readonly addScopes?: readonly string[] | undefined;
  readonly removeScopes?: readonly string[] | undefined;
  readonly metadata?: Metadata | undefined;
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
  readonly apis?: readonly string[] | undefined;
  readonly history?: BanRecord | undefined;
  readonly metadata: Metadata;
  readonly imported: boolean;
  readonly asOf?: string | undefined;
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
  readonly minWorkers: number;
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
  readonly strikes?: number | null | undefined;
  readonly operation?: string | null | undefined;
  readonly level: number | null;
  readonly nextDuration: string | null;
  readonly resetsAt: string | null;
  readonly reason: string | null;
  readonly by: string | null;
  readonly history?: BanRecord | undefined;
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
    readonly plan?: string | null | undefined;
    readonly until?: string | null | undefined;
    readonly level?: number | undefined;
    readonly limit?: string | null | undefined;
    readonly strikes?: number | undefined;
    readonly operation?: string | null | undefined;
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
  readonly history?: BanRecord | undefined;
}

export interface UsageWindow {
  readonly name: string;
  readonly kind: 'fixed' | 'sliding' | 'calendar';
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
  readonly workers: number | null;
  readonly addresses: PlanAddresses | null;
  readonly keys: number;
  readonly overLimit: readonly string[];
  readonly unusable: readonly string[];
  readonly lastDay?: LastDay | null | undefined;
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
  readonly kind: 'fixed' | 'sliding' | 'calendar';
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
  readonly first: boolean;
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
  readonly asOf?: string | undefined;
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
  readonly asOf?: string | undefined;
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
  readonly health: Health;
  readonly gateways: readonly Gateway[];
  readonly backends: readonly Backend[];
  readonly lost: readonly LostGateway[];
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

export interface UsageReport {
  readonly from: string;
  readonly to: string;
  readonly by: readonly string[];
  readonly since: string | null;
  readonly lost: readonly { readonly gateway: string; readonly at: string; readonly requests: number }[];
  readonly unresponsive: readonly string[];
  readonly isolated: string | null;
  readonly dropped: number;
  readonly rows: readonly UsageRow[];
}

export interface Top extends PeerCoverage {
  readonly window: 'minute' | 'hour' | 'day';
  readonly by: 'requests' | 'refused' | 'near-limit' | 'strikes' | 'deprecated' | 'operations';
  readonly since: string | null;
  readonly total: number;
  readonly items: readonly TopItem[];
  readonly gateways: readonly CountingGateway[];
}

export interface History extends PeerCoverage {
  readonly step: string;
  readonly since: string | null;
  readonly steps: readonly HistoryStep[];
  readonly outages: readonly StateOutage[];
  readonly gateways: readonly string[];
  readonly lost: readonly { readonly gateway: string; readonly at: string; readonly requests: number }[];
}

export interface Requests extends PeerCoverage {
  readonly requests: readonly RefusedRequest[];
  readonly calls: readonly KeyCall[];
  readonly next: string | null;
  readonly newest: string | null;
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

/** The parameters, body and response of each operation. */
export interface Operations {
  readonly listKeys: {
    readonly path: {};
    readonly query: {
      readonly find?: string | undefined;
      readonly sort?: 'created' | '-created' | undefined;
      readonly account?: string | undefined;
      readonly plan?: string | undefined;
      readonly status?: KeyStatus | undefined;
      readonly scope?: string | undefined;
      readonly api?: string | undefined;
      readonly label?: string | undefined;
      readonly limit?: number | undefined;
      readonly after?: string | undefined;
    };
    readonly body?: never;
    readonly response: Keys;
  };
  readonly createKey: {
    readonly path: {};
    readonly query: {};
    readonly body: NewKey;
    readonly response: KeyWithSecret;
  };
  readonly importKey: {
    readonly path: {};
    readonly query: {};
    readonly body: ImportedKey;
    readonly response: Key;
  };
  readonly importKeys: {
    readonly path: {};
    readonly query: {};
    readonly body: ManyImportedKeys;
    readonly response: ImportReport;
  };
  readonly identifyKey: {
    readonly path: {};
    readonly query: {};
    readonly body: { readonly key: string };
    readonly response: Key;
  };
  readonly getKey: {
    readonly path: { readonly id: string };
    readonly query: {};
    readonly body?: never;
    readonly response: Key;
  };
  readonly updateKey: {
    readonly path: { readonly id: string };
    readonly query: {};
    readonly body: KeyUpdate;
    readonly response: Key;
  };
  readonly revokeKey: {
    readonly path: { readonly id: string };
    readonly query: {};
    readonly body?: never;
    readonly response: Key;
  };
  readonly disableKey: {
    readonly path: { readonly id: string };
    readonly query: {};
    readonly body?: never;
    readonly response: Key;
  };
  readonly enableKey: {
    readonly path: { readonly id: string };
    readonly query: {};
    readonly body?: never;
    readonly response: Key;
  };
  readonly rotateKey: {
    readonly path: { readonly id: string };
    readonly query: {};
    readonly body?: {
      readonly overlap?: string | undefined;
      readonly env?: string | undefined;
      readonly force?: boolean | undefined;
    } | undefined;
    readonly response: KeyWithSecret;
  };
  readonly listAccounts: {
    readonly path: {};
    readonly query: { readonly limit?: number | undefined; readonly after?: string | undefined };
    readonly body?: never;
    readonly response: Accounts;
  };
  readonly getAccount: {
    readonly path: { readonly account: string };
    readonly query: {};
    readonly body?: never;
    readonly response: Account;
  };
  readonly listKeysOfAccount: {
    readonly path: { readonly account: string };
    readonly query: { readonly limit?: number | undefined; readonly after?: string | undefined };
    readonly body?: never;
    readonly response: Keys;
  };
  readonly listPlans: {
    readonly path: {};
    readonly query: {};
    readonly body?: never;
    readonly response: Plans;
  };
  readonly getPlan: {
    readonly path: { readonly plan: string };
    readonly query: {};
    readonly body?: never;
    readonly response: Plan;
  };
  readonly setPlan: {
    readonly path: { readonly plan: string };
    readonly query: {};
    readonly body: PlanDraft;
    readonly response: PlanSimulation;
  };
  readonly simulatePlan: {
    readonly path: { readonly plan: string };
    readonly query: {};
    readonly body: PlanDraft;
    readonly response: PlanSimulation;
  };
  readonly listBans: { readonly path: {}; readonly query: {}; readonly body?: never; readonly response: Bans };
  readonly listBanHistory: {
    readonly path: {};
    readonly query: {
      readonly subject?: string | undefined;
      readonly since?: string | undefined;
      readonly limit?: number | undefined;
      readonly below?: number | undefined;
    };
    readonly body?: never;
    readonly response: BanHistory;
  };
  readonly addBan: {
    readonly path: { readonly subject: string };
    readonly query: {};
    readonly body: NewBan;
    readonly response: Bans;
  };
  readonly liftBan: {
    readonly path: { readonly subject: string };
    readonly query: {};
    readonly body?: never;
    readonly response: UsageList;
  };
  readonly extendBan: {
    readonly path: { readonly subject: string };
    readonly query: {};
    readonly body: NewBan;
    readonly response: Bans;
  };
  readonly getUsageReport: {
    readonly path: {};
    readonly query: {
      readonly from?: string | undefined;
      readonly to?: string | undefined;
      readonly by?: string | undefined;
      readonly account?: string | undefined;
      readonly key?: string | undefined;
      readonly plan?: string | undefined;
      readonly api?: string | undefined;
      readonly operation?: string | undefined;
      readonly status?: string | undefined;
      readonly deprecated?: boolean | undefined;
      readonly partial?: boolean | undefined;
      readonly format?: 'json' | 'csv' | 'ndjson' | undefined;
    };
    readonly body?: never;
    readonly response: UsageReport;
  };
  readonly getUsage: {
    readonly path: { readonly subject: string };
    readonly query: {};
    readonly body?: never;
    readonly response: UsageList;
  };
  readonly resetUsage: {
    readonly path: { readonly subject: string };
    readonly query: {};
    readonly body?: never;
    readonly response: UsageList;
  };
  readonly grantUsage: {
    readonly path: { readonly subject: string };
    readonly query: {};
    readonly body: { readonly units: number; readonly window?: string | undefined };
    readonly response: UsageList;
  };
  readonly getStatus: {
    readonly path: {};
    readonly query: {};
    readonly body?: never;
    readonly response: Status;
  };
  readonly forgetGateway: {
    readonly path: { readonly gateway: string };
    readonly query: {};
    readonly body?: never;
    readonly response: LostGateway;
  };
  readonly listBackends: {
    readonly path: {};
    readonly query: {};
    readonly body?: never;
    readonly response: Backends;
  };
  readonly getTop: {
    readonly path: {};
    readonly query: {
      readonly window?: 'minute' | 'hour' | 'day' | undefined;
      readonly by?: 'requests' | 'refused' | 'near-limit' | 'strikes' | 'deprecated' | 'operations' | undefined;
      readonly api?: string | undefined;
      readonly limit?: number | undefined;
    };
    readonly body?: never;
    readonly response: Top;
  };
  readonly getHistory: {
    readonly path: {};
    readonly query: {
      readonly since?: string | undefined;
      readonly step?: '1m' | '10m' | '1h' | undefined;
      readonly operation?: string | undefined;
      readonly api?: string | undefined;
      readonly plan?: string | undefined;
    };
    readonly body?: never;
    readonly response: History;
  };
  readonly listRequests: {
    readonly path: {};
    readonly query: {
      readonly key?: string | undefined;
      readonly account?: string | undefined;
      readonly api?: string | undefined;
      readonly code?: string | undefined;
      readonly since?: string | undefined;
      readonly until?: string | undefined;
      readonly limit?: number | undefined;
      readonly after?: string | undefined;
      readonly newer?: string | undefined;
    };
    readonly body?: never;
    readonly response: Requests;
  };
  readonly explainRequest: {
    readonly path: { readonly id: string };
    readonly query: {};
    readonly body?: never;
    readonly response: ExplainedRequest;
  };
  readonly getConfig: {
    readonly path: {};
    readonly query: {};
    readonly body?: never;
    readonly response: Config;
  };
  readonly diffConfig: {
    readonly path: {};
    readonly query: {};
    readonly body?: never;
    readonly response: ConfigDiff;
  };
  readonly reload: {
    readonly path: {};
    readonly query: { readonly dryRun?: boolean | undefined };
    readonly body?: never;
    readonly response: Reload;
  };
  readonly listAudit: {
    readonly path: {};
    readonly query: {
      readonly actor?: string | undefined;
      readonly action?: string | undefined;
      readonly target?: string | undefined;
      readonly limit?: number | undefined;
      readonly below?: number | undefined;
      readonly above?: number | undefined;
      readonly since?: string | undefined;
    };
    readonly body?: never;
    readonly response: Audit;
  };
  readonly listTokens: {
    readonly path: {};
    readonly query: {};
    readonly body?: never;
    readonly response: Tokens;
  };
  readonly createToken: {
    readonly path: {};
    readonly query: {};
    readonly body: { readonly name: string; readonly role: Role };
    readonly response: TokenWithSecret;
  };
  readonly revokeToken: {
    readonly path: { readonly name: string };
    readonly query: {};
    readonly body?: never;
    readonly response: Token;
  };
  readonly listWebhooks: {
    readonly path: {};
    readonly query: {};
    readonly body?: never;
    readonly response: Webhooks;
  };
  readonly getWebhookSchema: {
    readonly path: {};
    readonly query: {};
    readonly body?: never;
    readonly response: Readonly<Record<string, unknown>>;
  };
  readonly testWebhooks: {
    readonly path: {};
    readonly query: {};
    readonly body?: { readonly endpoint?: string | undefined } | undefined;
    readonly response: WebhookTests;
  };
}
