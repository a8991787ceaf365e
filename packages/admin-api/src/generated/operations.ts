// Written by `npm run generate` from the contract of the admin API.

/** Method and path of each operation. */
export const ROUTES = {
  listKeys: ['GET', '/keys'],
  createKey: ['POST', '/keys'],
  importKey: ['POST', '/keys/import'],
  importKeys: ['POST', '/keys/import-many'],
  identifyKey: ['POST', '/keys/identify'],
  getKey: ['GET', '/keys/{id}'],
  updateKey: ['PATCH', '/keys/{id}'],
  revokeKey: ['DELETE', '/keys/{id}'],
  disableKey: ['POST', '/keys/{id}/disable'],
  enableKey: ['POST', '/keys/{id}/enable'],
  rotateKey: ['POST', '/keys/{id}/rotate'],
  listAccounts: ['GET', '/accounts'],
  getAccount: ['GET', '/accounts/{account}'],
  listKeysOfAccount: ['GET', '/accounts/{account}/keys'],
  listPlans: ['GET', '/plans'],
  getPlan: ['GET', '/plans/{plan}'],
  setPlan: ['PUT', '/plans/{plan}'],
  simulatePlan: ['POST', '/plans/{plan}/simulate'],
  listBans: ['GET', '/bans'],
  listBanHistory: ['GET', '/ban-history'],
  addBan: ['PUT', '/bans/{subject}'],
  liftBan: ['DELETE', '/bans/{subject}'],
  extendBan: ['POST', '/bans/{subject}/extend'],
  getUsageReport: ['GET', '/usage/report'],
  getUsage: ['GET', '/usage/{subject}'],
  resetUsage: ['POST', '/usage/{subject}/reset'],
  grantUsage: ['POST', '/usage/{subject}/grant'],
  getStatus: ['GET', '/status'],
  forgetGateway: ['DELETE', '/gateways/{gateway}'],
  listBackends: ['GET', '/backends'],
  getTop: ['GET', '/top'],
  getHistory: ['GET', '/history'],
  listRequests: ['GET', '/requests'],
  explainRequest: ['GET', '/requests/{id}'],
  getConfig: ['GET', '/config'],
  diffConfig: ['GET', '/config/diff'],
  reload: ['POST', '/reload'],
  listAudit: ['GET', '/audit'],
  listTokens: ['GET', '/tokens'],
  createToken: ['POST', '/tokens'],
  revokeToken: ['DELETE', '/tokens/{name}'],
  listWebhooks: ['GET', '/webhooks'],
  getWebhookSchema: ['GET', '/webhooks/schema'],
  testWebhooks: ['POST', '/webhooks/test'],
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
