// Written by `npm run generate` from the contract of the admin API.

/** Method, path, lowest role and status of each operation. */
export const ROUTES = {
  listKeys: ['GET', '/keys', 'read', 200],
  createKey: ['POST', '/keys', 'operate', 201],
  importKey: ['POST', '/keys/import', 'operate', 201],
  importKeys: ['POST', '/keys/import-many', 'operate', 200],
  identifyKey: ['POST', '/keys/identify', 'read', 200],
  getKey: ['GET', '/keys/{id}', 'read', 200],
  updateKey: ['PATCH', '/keys/{id}', 'operate', 200],
  revokeKey: ['DELETE', '/keys/{id}', 'operate', 200],
  disableKey: ['POST', '/keys/{id}/disable', 'operate', 200],
  enableKey: ['POST', '/keys/{id}/enable', 'operate', 200],
  rotateKey: ['POST', '/keys/{id}/rotate', 'operate', 200],
  listAccounts: ['GET', '/accounts', 'read', 200],
  getAccount: ['GET', '/accounts/{account}', 'read', 200],
  listKeysOfAccount: ['GET', '/accounts/{account}/keys', 'read', 200],
  listPlans: ['GET', '/plans', 'read', 200],
  getPlan: ['GET', '/plans/{plan}', 'read', 200],
  setPlan: ['PUT', '/plans/{plan}', 'admin', 200],
  simulatePlan: ['POST', '/plans/{plan}/simulate', 'read', 200],
  listBans: ['GET', '/bans', 'read', 200],
  listBanHistory: ['GET', '/ban-history', 'read', 200],
  addBan: ['PUT', '/bans/{subject}', 'operate', 200],
  liftBan: ['DELETE', '/bans/{subject}', 'operate', 200],
  extendBan: ['POST', '/bans/{subject}/extend', 'operate', 200],
  getUsageReport: ['GET', '/usage/report', 'read', 200],
  getUsage: ['GET', '/usage/{subject}', 'read', 200],
  resetUsage: ['POST', '/usage/{subject}/reset', 'operate', 200],
  grantUsage: ['POST', '/usage/{subject}/grant', 'operate', 200],
  getStatus: ['GET', '/status', 'read', 200],
  forgetGateway: ['DELETE', '/gateways/{gateway}', 'operate', 200],
  listBackends: ['GET', '/backends', 'read', 200],
  getTop: ['GET', '/top', 'read', 200],
  getHistory: ['GET', '/history', 'read', 200],
  listRequests: ['GET', '/requests', 'read', 200],
  explainRequest: ['GET', '/requests/{id}', 'read', 200],
  getConfig: ['GET', '/config', 'read', 200],
  diffConfig: ['GET', '/config/diff', 'read', 200],
  reload: ['POST', '/reload', 'admin', 200],
  listAudit: ['GET', '/audit', 'read', 200],
  listTokens: ['GET', '/tokens', 'admin', 200],
  createToken: ['POST', '/tokens', 'admin', 201],
  revokeToken: ['DELETE', '/tokens/{name}', 'admin', 200],
  listWebhooks: ['GET', '/webhooks', 'read', 200],
  getWebhookSchema: ['GET', '/webhooks/schema', 'read', 200],
  testWebhooks: ['POST', '/webhooks/test', 'operate', 200],
} as const;

// Parameters in queries that are not text.
export const NUMBERS: ReadonlySet<string> = new Set(['limit', 'below', 'above']);
export const FLAGS: ReadonlySet<string> = new Set(['deprecated', 'partial', 'dryRun']);

/** Values of enumerations: parameters in queries by their names, schemas by their own. */
export const VALUES = {
  sort: ['created', '-created'],
  by: ['requests', 'refused', 'near-limit', 'strikes', 'deprecated', 'operations'],
  format: ['json', 'csv', 'ndjson'],
  window: ['minute', 'hour', 'day'],
  step: ['1m', '10m', '1h'],
  Readiness: ['ready', 'stopping', 'state_down', 'upstreams_down', 'no_workers'],
  KeyStatus: ['active', 'banned', 'disabled', 'expired', 'revoked'],
  Role: ['read', 'operate', 'admin'],
} as const;
