import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { deepFreeze } from '../common/freeze.ts';
import { readListFiles } from './address-lists.ts';
import { assemble } from './assemble.ts';
import type { Config } from './config.ts';
import { remember } from './describe.ts';
import { type Environment, readEnvironment } from './environment.ts';
import { mergeSettings } from './merge.ts';
import { readPlans } from './plans.ts';
import { ConfigError } from './problems/problems.ts';
import { settingValue } from './settings.ts';
import { readYamlFile } from './yaml/file.ts';

export interface Files {
  readonly gateway: string;
  readonly plans: string;
  readonly contract: string;
}

const root = resolve(import.meta.dirname, '../..');

/** Absolute. */
export const shippedFiles: Files = {
  gateway: resolve(root, 'config/gateway.yaml'),
  plans: resolve(root, 'plans.yaml'),
  contract: resolve(root, 'config/openapi.yaml'),
};

export interface LoadOptions {
  readonly env: Environment;
  /** Of the environment and the files. */
  readonly cwd: string;
  /** Replace the shipped files; a file that the environment or gateway.yaml names takes precedence. */
  readonly files?: Partial<Files>;
}

/** The settings of the working directory; `null`: none. */
function fileIn(cwd: string): string | null {
  const file = resolve(cwd, 'gateway.yaml');
  return existsSync(file) ? file : null;
}

/**
 * Environment overrides gateway.yaml, which overrides the default.
 *
 * @throws {ConfigError} with all mistakes of all variables and files at once
 */
export function loadConfig({ env, cwd, files }: LoadOptions): Config {
  const shipped = { ...shippedFiles, ...files };
  const environment = readEnvironment(env, cwd);
  const gateway = resolve(cwd, environment.file ?? fileIn(cwd) ?? shipped.gateway);
  const { settings, problems } = mergeSettings(environment, readYamlFile(gateway, cwd), shipped);
  const lists = readListFiles(settings, cwd);
  const { plans, problems: planProblems } = readPlans(resolve(cwd, settingValue<string>(settings, 'plans.file')), cwd);

  const all = [...environment.problems, ...problems, ...lists.problems, ...planProblems];
  if (all.length > 0 || plans === null) throw new ConfigError(all);
  const config = deepFreeze(
    assemble(lists.settings, { plans, gateway, cwd, addressFiles: lists.paths, listsIn: lists.listsIn }),
  );
  remember(config, lists.settings);
  return config;
}
