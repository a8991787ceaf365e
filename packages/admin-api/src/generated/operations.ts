// Written by `npm run generate` from the contract of the admin API.

/** Method, path and lowest role of each operation. */
export const ROUTES = {
  listKeys: ['GET', '/keys', 'read'],
  createKey: ['POST', '/keys', 'operate'],
  importKey: ['POST', '/keys/import', 'operate'],
  importKeys: ['POST', '/keys/import-many', 'operate'],
  identifyKey: ['POST', '/keys/identify', 'read'],
  getKey: ['GET', '/keys/{id}', 'read'],
  updateKey: ['PATCH', '/keys/{id}', 'operate'],
  revokeKey: ['DELETE', '/keys/{id}', 'operate'],
  disableKey: ['POST', '/keys/{id}/disable', 'operate'],
  enableKey: ['POST', '/keys/{id}/enable', 'operate'],
  rotateKey: ['POST', '/keys/{id}/rotate', 'operate'],
  listAccounts: ['GET', '/accounts', 'read'],
  getAccount: ['GET', '/accounts/{account}', 'read'],
  listKeysOfAccount: ['GET', '/accounts/{account}/keys', 'read'],
  listPlans: ['GET', '/plans', 'read'],
  getPlan: ['GET', '/plans/{plan}', 'read'],
  setPlan: ['PUT', '/plans/{plan}', 'admin'],
  simulatePlan: ['POST', '/plans/{plan}/simulate', 'read'],
  listBans: ['GET', '/bans', 'read'],
  listBanHistory: ['GET', '/ban-history', 'read'],
  addBan: ['PUT', '/bans/{subject}', 'operate'],
  liftBan: ['DELETE', '/bans/{subject}', 'operate'],
  extendBan: ['POST', '/bans/{subject}/extend', 'operate'],
  getUsageReport: ['GET', '/usage/report', 'read'],
  getUsage: ['GET', '/usage/{subject}', 'read'],
  resetUsage: ['POST', '/usage/{subject}/reset', 'operate'],
  grantUsage: ['POST', '/usage/{subject}/grant', 'operate'],
  getStatus: ['GET', '/status', 'read'],
  forgetGateway: ['DELETE', '/gateways/{gateway}', 'operate'],
  listBackends: ['GET', '/backends', 'read'],
  getTop: ['GET', '/top', 'read'],
  getHistory: ['GET', '/history', 'read'],
  listRequests: ['GET', '/requests', 'read'],
  explainRequest: ['GET', '/requests/{id}', 'read'],
  getConfig: ['GET', '/config', 'read'],
  diffConfig: ['GET', '/config/diff', 'read'],
  reload: ['POST', '/reload', 'admin'],
  listAudit: ['GET', '/audit', 'read'],
  listTokens: ['GET', '/tokens', 'admin'],
  createToken: ['POST', '/tokens', 'admin'],
  revokeToken: ['DELETE', '/tokens/{name}', 'admin'],
  listWebhooks: ['GET', '/webhooks', 'read'],
  getWebhookSchema: ['GET', '/webhooks/schema', 'read'],
  testWebhooks: ['POST', '/webhooks/test', 'operate'],
} as const;

// Parameters in queries that are not text.
export const NUMBERS: ReadonlySet<string> = new Set(['limit', 'below', 'above']);
export const FLAGS: ReadonlySet<string> = new Set(['deprecated', 'dryRun']);

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
