import type { EnvironmentLayer } from './environment.ts';
import { dotted, pointerTo, touches } from './problems/pointers.ts';
import { byPosition, type Problem } from './problems/problems.ts';
import { type Rule, rules } from './rules.ts';
import { type Flaw, schemaFlaws } from './schema/flaws.ts';
import { schemaOf } from './schema/schema.ts';
import { type Origin, type Setting, type Settings, SettingsReader, settingsOf, valueAt } from './settings.ts';
import type { YamlFile } from './yaml/file.ts';

/**
 * Lays the environment over the file over the defaults, and checks the file and the whole. A value with a mistake is
 * left out, so that the rest can still be looked at; the settings are good for use only when there is no problem.
 */
export function mergeSettings(
  environment: EnvironmentLayer,
  file: YamlFile,
  shipped: { readonly contract: string; readonly plans: string },
): { settings: Settings; problems: readonly Problem[] } {
  const flaws = file.value === undefined ? [] : schemaFlaws(file.value, 'gateway');
  // Of a file that cannot be read nothing is known: no rule can say that something is missing.
  const unsound =
    file.value === undefined ? [''] : [...flaws.map((flaw) => flaw.pointer), ...environment.unsound.map(pointerTo)];
  const isSound = (name: string) => !unsound.some((pointer) => touches(pointer, pointerTo(name)));

  const settings = new Map<string, Setting>();
  for (const [name, schema] of settingsOf(schemaOf('gateway'))) {
    const [value, origin] =
      fromEnvironment(environment, name) ?? ((isSound(name) && fromFile(file, name)) || [schema.default, byDefault]);
    settings.set(name, { value: value ?? shippedFor(name, shipped), origin, secret: schema['x-secret'] });
  }

  const broken = rules
    .filter((rule) => rule.reads.every(isSound))
    .flatMap((rule) => ruleProblems(rule, settings, file));
  const problems = [...file.problems, ...flaws.map((flaw) => problemIn(file, flaw)), ...broken];
  return { settings, problems: problems.sort(byPosition) };
}

type Found = readonly [value: unknown, origin: Origin];

const byDefault: Origin = { kind: 'default' };

function fromEnvironment({ values }: EnvironmentLayer, setting: string): Found | undefined {
  const found = values.get(setting);
  return found && [found.value, { kind: 'environment', name: found.name }];
}

function fromFile(file: YamlFile, setting: string): Found | undefined {
  const value = valueAt(file.value, setting);
  if (value === undefined) return undefined;
  return [value, { kind: 'file', file: file.name, position: file.locate(pointerTo(setting), 'value') }];
}

/** A file that is not named is the shipped one. */
function shippedFor(setting: string, shipped: { readonly contract: string; readonly plans: string }): string | null {
  if (setting === 'contract.file') return shipped.contract;
  return setting === 'plans.file' ? shipped.plans : null;
}

/** Puts the flaw where somebody can mend it: a rule may blame a default that what was written does not go with. */
function ruleProblems({ reads, flaws }: Rule, settings: Settings, file: YamlFile): Problem[] {
  return flaws(new SettingsReader(settings)).map((flaw) => {
    const blamed = reads.find((name) => touches(pointerTo(name), flaw.pointer)) ?? '';
    const written = [blamed, ...reads].find((name) => settings.get(name)?.origin.kind !== 'default') ?? blamed;
    const origin = settings.get(written)?.origin;
    if (origin?.kind === 'environment') {
      return { source: origin.name, place: { position: null, path: '' }, message: flaw.message };
    }
    return problemIn(file, written === blamed ? flaw : { ...flaw, pointer: pointerTo(written) });
  });
}

function problemIn(file: YamlFile, { pointer, at, message }: Flaw): Problem {
  return { source: file.name, place: { position: file.locate(pointer, at), path: dotted(pointer) }, message };
}
