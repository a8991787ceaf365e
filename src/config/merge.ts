import type { EnvironmentLayer } from './environment.ts';
import { dotted, pointerTo, touches } from './problems/pointers.ts';
import { byPosition, type Problem, problemOf } from './problems/problems.ts';
import { type Rule, rules } from './rules.ts';
import { type SchemaError, schemaErrors } from './schema/errors.ts';
import { type Origin, type Setting, type Settings, settingsOf, valueAt } from './settings.ts';
import type { YamlFile } from './yaml/file.ts';

/** Omits an invalid value, so that the rest can be checked; the settings are only usable without any problem. */
export function mergeSettings(
  environment: EnvironmentLayer,
  file: YamlFile,
  shipped: { readonly contract: string; readonly plans: string },
): { settings: Settings; problems: readonly Problem[] } {
  const flaws = file.value === undefined ? [] : schemaErrors(file.value, 'gateway');
  // The contents of an unreadable file are unknown, so no rule may report something missing.
  const unsound =
    file.value === undefined ? [''] : [...flaws.map((flaw) => flaw.pointer), ...environment.unsound.map(pointerTo)];
  const isSound = (name: string) => !unsound.some((pointer) => touches(pointer, pointerTo(name)));

  const settings = new Map<string, Setting>();
  for (const [name, schema] of settingsOf('gateway')) {
    const [value, origin] =
      fromEnvironment(environment, name) ?? ((isSound(name) && fromFile(file, name)) || [schema.default, byDefault]);
    settings.set(name, { value: value ?? shippedFor(name, shipped), origin });
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

function shippedFor(setting: string, shipped: { readonly contract: string; readonly plans: string }): string | null {
  if (setting === 'contract.file') return shipped.contract;
  return setting === 'plans.file' ? shipped.plans : null;
}

/** Moves a flaw to a written value: a rule may name a default that conflicts with it. */
function ruleProblems({ reads, flaws }: Rule, settings: Settings, file: YamlFile): Problem[] {
  return flaws(settings).map((flaw) => {
    const blamed = reads.find((name) => touches(pointerTo(name), flaw.pointer)) ?? '';
    const written = [blamed, ...reads].find((name) => settings.get(name)?.origin.kind !== 'default') ?? blamed;
    const origin = settings.get(written)?.origin;
    if (origin?.kind === 'environment') return problemOf(origin.name, flaw.message);
    return problemIn(file, written === blamed ? flaw : { ...flaw, pointer: pointerTo(written) });
  });
}

function problemIn(file: YamlFile, { pointer, at, message }: SchemaError): Problem {
  return { source: file.name, place: { position: file.locate(pointer, at), path: dotted(pointer) }, message };
}
