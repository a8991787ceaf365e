import { createRequire } from 'node:module';
import type * as Package from 'rate-limiter-flexible';

/** The one class of the package that is used. Its index would load 35 more modules, for databases, at every start. */
export const RateLimiterMemory = createRequire(import.meta.url)(
  'rate-limiter-flexible/lib/RateLimiterMemory.js',
) as typeof Package.RateLimiterMemory;
