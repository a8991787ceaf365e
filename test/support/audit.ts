import type { AuditSettings } from '../../src/config/config.ts';

/** As shipped. */
export const KEPT: AuditSettings = { keep: 100_000, bans: { keep: 100_000, for: 90 * 86_400_000 } };
