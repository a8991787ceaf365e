import type { AuditSettings } from '../../src/config/config.ts';

export const KEPT: AuditSettings = {
  maxEntries: 100_000,
  bans: { maxEntries: 100_000, maxAge: 90 * 86_400_000 },
};
