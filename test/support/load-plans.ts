import { resolve } from 'node:path';
import { readPlans } from '../../src/config/plans.ts';
import { ConfigError } from '../../src/config/problems/problems.ts';
import { readYamlFile } from '../../src/config/yaml/file.ts';
import type { Plans } from '../../src/limits/plans.ts';

/** `file`: absolute, or relative to `cwd`. Throws ConfigError with every mistake in it. */
export function loadPlans(file: string, cwd = process.cwd()): Plans {
  const { plans, problems } = readPlans(readYamlFile(resolve(cwd, file), cwd));
  if (plans === null) throw new ConfigError(problems);
  return plans;
}
