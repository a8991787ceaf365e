import type { AuditSettings } from '../../src/config/config.ts';

/** As shipped. */
export const KEPT: AuditSettings = { keep: 100_000 };
