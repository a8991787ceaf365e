import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { deepFreeze } from '../common/freeze.ts';
import { isObject } from '../common/shapes.ts';
import type { Plans } from '../limits/plans.ts';
import { createListReader } from './address-lists.ts';
import {
  type ApiEntry,
  apiNames,
  apisOf,
  entriesIn,
  hasDefaultApi,
  settingsOfApi,
} from './apis.ts';
import { assemble } from './assemble.ts';
import type { Config } from './config.ts';
import { remember, writtenAs } from './describe.ts';
import {
  type Environment,
  type EnvironmentLayer,
  readEnvironment,
} from './environment.ts';
import { readValueFiles } from './header-rules.ts';
import { type PageFiles, readPageFiles } from './page-files.ts';
import { readPlans } from './plans.ts';
import { pointerTo, touches } from './problems/pointers.ts';
import {
  byPosition,
  ConfigError,
  nameOfFile,
  type Problem,
  problemOf,
  UnusableSection,
} from './problems/problems.ts';
import { type Rule, rules } from './rules.ts';
import { type SchemaError, schemaErrors } from './schema/errors.ts';
import { schemaOf } from './schema/schema.ts';
import {
  type Origin,
  putAt,
  type Setting,
  type Settings,
  settingsOf,
  settingValue,
  valueAt,
} from './settings.ts';
import {
  parseYaml,
  problemIn,
  readYamlFile,
  type YamlFile,
} from './yaml/file.ts';

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
  /** From the environment and the files. */
  readonly cwd: string;
  /**
   * Replace the shipped files; a file that the environment or gateway.yaml names takes precedence.
   */
  readonly files?: Partial<Files>;
  /** In place of the content of gateway.yaml. */
  readonly text?: string;
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
export function loadConfig(options: LoadOptions): Config {
  const { config, problems } = load(options);
  const all = problems.map(({ problem }) => problem);
  if (all.length > 0) throw new ConfigError(all);
  return config;
}

/**
 * For commands that need only some sections: a section with mistakes throws UnusableSection when it
 * is read. Throws ConfigError for mistakes that may be about any section.
 */
export function loadSections(options: LoadOptions): Config {
  const { config, problems } = load(options);
  const anywhere = problems.filter(({ sections }) => sections.length === 0);
  if (anywhere.length > 0)
    throw new ConfigError(anywhere.map(({ problem }) => problem));
  if (problems.length === 0) return config;
  const usable = { ...config };
  for (const section of new Set(problems.flatMap(({ sections }) => sections))) {
    const own = problems.filter(({ sections }) => sections.includes(section));
    const unusable = new UnusableSection(own.map(({ problem }) => problem));
    const get = () => {
      throw unusable;
    };
    Object.defineProperty(usable, section, { get, enumerable: true });
  }
  const all = problems.map(({ problem }) => problem);
  remember(usable, new UnusableSection(all));
  return Object.freeze(usable);
}

interface SectionProblem {
  readonly problem: Problem;
  /** Names in Config that it makes unusable; empty: any. */
  readonly sections: readonly string[];
}

/** Sections with problems have other values than the files. */
function load({ env, cwd, files, text }: LoadOptions) {
  const ownPlans = resolve(cwd, 'plans.yaml');
  const shipped = {
    ...shippedFiles,
    ...files,
    ...(existsSync(ownPlans) && { plans: ownPlans }),
  };
  const environment = readEnvironment(env, cwd);
  const gateway = gatewayFile({ env, cwd, files: shipped });
  const variable = environment.file === null ? null : 'STOREGATE_CONFIG';
  const file =
    text === undefined
      ? readYamlFile(gateway, cwd, variable)
      : parseYaml(text, nameOfFile(gateway, cwd));
  const { settings, problems } = mergeSettings(environment, file, shipped);
  const lists = createListReader(cwd);
  const general = lists.readIn(settings);
  const values = readValueFiles(general, cwd);
  const pages = readPageFiles(values.settings, cwd);
  const plansFile = resolve(cwd, settingValue<string>(settings, 'plans.file'));
  const { plans, problems: planProblems } = readPlans(
    readYamlFile(plansFile, cwd, writtenAs(settings, 'plans.file')),
    environment.problems.length + problems.length > 0
      ? undefined
      : apiNames(settings),
  );
  const entries = entriesIn(settings);
  const above = { general, file, cwd, lists, inherited: pages.contents };
  const ofApis = entries.map((entry, i) => readApi(entry, i, above));
  lists.forgetOthers();
  const around = {
    plans: plans ?? NO_PLANS,
    gateway,
    cwd,
    otherFiles: [
      ...lists.paths,
      ...new Set([
        ...[values, ...ofApis].flatMap(({ paths }) => paths),
        ...pages.paths,
        ...ofApis.flatMap(({ pages: { paths } }) => paths),
      ]),
    ],
    listsIn: lists.listsIn,
  };
  const assembled = assemble(general, {
    ...around,
    pageFiles: pages.contents,
    textOf: values.textOf,
  });
  const configs = ofApis.map(({ own, pages: { contents }, textOf }) =>
    assemble(own, { ...around, pageFiles: contents, textOf }),
  );
  const hasDefault = hasDefaultApi(settings);
  const namedBy = writtenAs(settings, 'contract.file');
  const apis = apisOf(assembled, entries, { configs, hasDefault, namedBy });
  const own = entries.flatMap(({ name, upstream }, i) =>
    isObject(upstream) ? [[name, configs[i]!.upstream]] : [],
  );
  const upstreams = { ...assembled.upstreams, ...Object.fromEntries(own) };
  const budgets = [assembled, ...configs].map(({ http }) => http.bodyBudget);
  const http = { ...assembled.http, bodyBudget: Math.max(...budgets) };
  const config: Config = deepFreeze({ ...assembled, http, upstreams, apis });
  remember(config, withDigests(pages.settings, entries, ofApis));
  const inSections = (all: readonly Problem[], ...sections: string[]) =>
    all.map((problem) => ({ problem, sections }));
  const flawed = (all: readonly SchemaError[]) =>
    all.map((flaw) => problemIn(file, flaw));
  const all: SectionProblem[] = [
    ...inSections(environment.problems),
    ...problems.map((problem) => ({ problem, sections: sectionsOf(problem) })),
    ...inSections(lists.problems, ...LISTS),
    ...inSections(flawed(values.flaws), 'headers'),
    ...inSections(flawed(ofApis.flatMap(({ flaws }) => flaws)), 'apis'),
    ...[pages, ...ofApis.map((one) => one.pages)].flatMap(({ problems }) =>
      inSections(problems, 'reference'),
    ),
    ...inSections(planProblems, 'plans'),
  ];
  return { config, problems: all };
}

interface AboveApi {
  readonly general: Settings;
  readonly file: YamlFile;
  readonly cwd: string;
  readonly lists: ReturnType<typeof createListReader>;
  readonly inherited: PageFiles;
}

/** Settings of an API, with the files that they name. */
function readApi(
  entry: ApiEntry,
  i: number,
  { general, file, cwd, lists, inherited }: AboveApi,
) {
  const prefix = `apis[${i}].`;
  const own = lists.readIn(
    settingsOfApi(general, entry, originIn(file, i)),
    prefix,
  );
  const values = readValueFiles(own, cwd);
  const flaws = entry.headers === undefined ? [] : values.flaws;
  const isOwn = (name: string) => valueAt(entry, name) !== undefined;
  return {
    own,
    ...values,
    flaws: flaws.map((flaw) => ({
      ...flaw,
      pointer: `/apis/${i}${flaw.pointer}`,
    })),
    pages: readPageFiles(values.settings, cwd, { prefix, inherited, isOwn }),
  };
}

const NO_PLANS: Plans = {
  plans: new Map(),
  publicPlan: null,
  escalation: null,
  accounts: new Map(),
};

/** Sections that may name files of addresses. */
const LISTS = ['addresses', 'apis'];

/** Settings that name a file. */
const NAMING = [
  'addresses.allow',
  'addresses.deny',
  'reference.logo',
  'reference.introduction',
];

const VALUES = ['headers.request.set', 'headers.response.set'];

/** With the digests of their files, so that a changed file is a changed setting. */
function withDigests(
  settings: Settings,
  entries: readonly ApiEntry[],
  own: readonly { readonly pages: { readonly settings: Settings } }[],
): Settings {
  const value = entries.map((entry, i) => {
    const copy = structuredClone(entry) as Record<string, unknown>;
    for (const name of NAMING)
      if (valueAt(entry, name) !== undefined)
        putAt(copy, name, settingValue(own[i]!.pages.settings, name));
    return copy;
  });
  const contents = entries.map((entry, i) =>
    entry.headers === undefined
      ? null
      : VALUES.map((name) => own[i]!.pages.settings.get(name)!.contents),
  );
  const apis = { ...settings.get('apis')!, value, contents };
  return new Map(settings).set('apis', apis);
}

/** A misspelled section may have been meant for any. */
function sectionsOf({ place }: Problem): readonly string[] {
  const [name] = /^\w+/.exec(place.path) ?? [];
  if (name === undefined || !(name in schemaOf('gateway').properties!))
    return [];
  return name === 'plans' ? ['plans', 'files'] : [name];
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
  for (const [i, entry] of entriesIn(settings).entries())
    broken.push(...problemsOfApi(settings, entry, i, file));
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
  return value === undefined
    ? undefined
    : [value, originAt(file, pointerTo(setting))];
}

const originAt = (file: YamlFile, pointer: string): Origin => ({
  kind: 'file',
  file: file.name,
  position: file.locate(pointer, 'value'),
});

/** Of the settings of an entry of `apis`. */
const originIn = (file: YamlFile, i: number) => (name: string) =>
  originAt(file, `/apis/${i}${pointerTo(name)}`);

function shippedFor(setting: string, shipped: Files): string | null {
  if (setting === 'contract.file') return shipped.contract;
  return setting === 'plans.file' ? shipped.plans : null;
}

/** Of the rules between settings that it has itself, which are valid outside. */
function problemsOfApi(
  settings: Settings,
  entry: ApiEntry,
  i: number,
  file: YamlFile,
): Problem[] {
  const own = settingsOfApi(settings, entry, originIn(file, i));
  const isOwn = (name: string) => own.get(name) !== settings.get(name);
  return rules
    .filter(({ reads }) => !reads.includes('apis') && reads.some(isOwn))
    .flatMap(({ flaws }) => flaws(own))
    .filter(
      ({ pointer }) => valueAt(entry, pointer.split('/')[1]!) !== undefined,
    )
    .map((flaw) =>
      problemIn(file, { ...flaw, pointer: `/apis/${i}${flaw.pointer}` }),
    );
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
