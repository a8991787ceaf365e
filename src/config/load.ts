import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { deepFreeze } from '../common/freeze.ts';
import { readListFiles } from './address-lists.ts';
import { assemble } from './assemble.ts';
import type { Config } from './config.ts';
import { remember, writtenAs } from './describe.ts';
import {
  type Environment,
  type EnvironmentLayer,
  readEnvironment,
} from './environment.ts';
import { readPlans } from './plans.ts';
import { pointerTo, touches } from './problems/pointers.ts';
import {
  byPosition,
  ConfigError,
  type Problem,
  problemOf,
} from './problems/problems.ts';
import { type Rule, rules } from './rules.ts';
import { schemaErrors } from './schema/errors.ts';
import {
  type Origin,
  type Setting,
  type Settings,
  settingsOf,
  settingValue,
  valueAt,
} from './settings.ts';
import { problemIn, readYamlFile, type YamlFile } from './yaml/file.ts';

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
  /**
   * Replace the shipped files; a file that the environment or gateway.yaml names takes precedence.
   */
  readonly files?: Partial<Files>;
}

/** Absolute. */
export function gatewayFile({ env, cwd, files }: LoadOptions): string {
  const own = resolve(cwd, 'gateway.yaml');
  const shipped = files?.gateway ?? shippedFiles.gateway;
  return resolve(
    cwd,
    env.STOREGATE_CONFIG || (existsSync(own) ? own : shipped),
  );
}

/**
 * Environment overrides gateway.yaml, which overrides the default.
 *
 * @throws {ConfigError} with all mistakes of all variables and files at once
 */
export function loadConfig({ env, cwd, files }: LoadOptions): Config {
  const shipped = { ...shippedFiles, ...files };
  const environment = readEnvironment(env, cwd);
  const gateway = gatewayFile({ env, cwd, files: shipped });
  const file = readYamlFile(
    gateway,
    cwd,
    environment.file === null ? null : 'STOREGATE_CONFIG',
  );
  const { settings, problems } = mergeSettings(environment, file, shipped);
  const lists = readListFiles(settings, cwd);
  const plansFile = resolve(cwd, settingValue<string>(settings, 'plans.file'));
  const { plans, problems: planProblems } = readPlans(
    readYamlFile(plansFile, cwd, writtenAs(settings, 'plans.file')),
  );

  const all = [
    ...environment.problems,
    ...problems,
    ...lists.problems,
    ...planProblems,
  ];
  if (all.length > 0 || plans === null) throw new ConfigError(all);
  const config = deepFreeze(
    assemble(lists.settings, {
      plans,
      gateway,
      cwd,
      addressFiles: lists.paths,
      listsIn: lists.listsIn,
    }),
  );
  remember(config, lists.settings);
  return config;
}

/**
 * Omits an invalid value, so that the rest can be checked; the settings are only usable without any
 * problem.
 */
function mergeSettings(
  environment: EnvironmentLayer,
  file: YamlFile,
  shipped: Files,
): { settings: Settings; problems: readonly Problem[] } {
  const flaws =
    file.value === undefined ? [] : schemaErrors(file.value, 'gateway');
  // The contents of an unreadable file are unknown, so no rule may report something missing.
  const unsound =
    file.value === undefined
      ? ['']
      : [
          ...flaws.map((flaw) => flaw.pointer),
          ...environment.unsound.map(pointerTo),
        ];
  const isSound = (name: string) =>
    !unsound.some((pointer) => touches(pointer, pointerTo(name)));

  const settings = new Map<string, Setting>();
  for (const [name, schema] of settingsOf('gateway')) {
    const [value, origin] =
      fromEnvironment(environment, name) ??
      ((isSound(name) && fromFile(file, name)) || [schema.default, byDefault]);
    settings.set(name, { value: value ?? shippedFor(name, shipped), origin });
  }

  const broken = rules
    .filter((rule) => rule.reads.every(isSound))
    .flatMap((rule) => ruleProblems(rule, settings, file));
  const problems = [
    ...file.problems,
    ...flaws.map((flaw) => problemIn(file, flaw)),
    ...broken,
  ];
  return { settings, problems: problems.sort(byPosition) };
}

type Found = readonly [value: unknown, origin: Origin];

const byDefault: Origin = { kind: 'default' };

function fromEnvironment(
  { values }: EnvironmentLayer,
  setting: string,
): Found | undefined {
  const found = values.get(setting);
  return found && [found.value, { kind: 'environment', name: found.name }];
}

function fromFile(file: YamlFile, setting: string): Found | undefined {
  const value = valueAt(file.value, setting);
  if (value === undefined) return undefined;
  return [
    value,
    {
      kind: 'file',
      file: file.name,
      position: file.locate(pointerTo(setting), 'value'),
    },
  ];
}

function shippedFor(setting: string, shipped: Files): string | null {
  if (setting === 'contract.file') return shipped.contract;
  return setting === 'plans.file' ? shipped.plans : null;
}

/** Moves a flaw to a written value: a rule may name a default that conflicts with it. */
function ruleProblems(
  { reads, flaws }: Rule,
  settings: Settings,
  file: YamlFile,
): Problem[] {
  return flaws(settings).map((flaw) => {
    const blamed =
      reads.find((name) => touches(pointerTo(name), flaw.pointer)) ?? '';
    const written =
      [blamed, ...reads].find(
        (name) => settings.get(name)?.origin.kind !== 'default',
      ) ?? blamed;
    const origin = settings.get(written)?.origin;
    if (origin?.kind === 'environment')
      return problemOf(origin.name, flaw.message);
    return problemIn(
      file,
      written === blamed ? flaw : { ...flaw, pointer: pointerTo(written) },
    );
  });
}
