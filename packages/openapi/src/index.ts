export { type Compiled, fingerprintOf } from './compiled.ts';
export {
  type ContractOptions,
  checkContract,
  type ExtensionReader,
  loadContract,
} from './contract.ts';
export type { FieldFlaw } from './document/bundle.ts';
export { Document } from './document/document.ts';
export { isObject, type Json, objectsIn } from './document/source.ts';
export { toJson } from './exact-json.ts';
export { type Fault, MAX_FAULTS, RULES, type Rule } from './faults.ts';
export type { Findings } from './findings.ts';
export type { MediaRule } from './media/content.ts';
export { printable as shown, unescapeToken } from './names.ts';
export type { Description } from './operations.ts';
export {
  isSameReading,
  type ReadingOptions as Reading,
  readingOptionsOf,
  type Treatment,
} from './options.ts';
export { canonicalPath } from './path.ts';
export { ContractError, formatProblems, type Problem } from './problems.ts';
export { createContract } from './runtime.ts';
export { deserialize, type Serialized, serialize } from './serialize.ts';
export { atOnce, inTurns } from './slices.ts';
export {
  AMBIGUOUS,
  type Target,
  type TargetFlaw,
  type TargetRules,
  targetOf,
} from './target.ts';
export { formatExempted } from './triage.ts';
export type {
  BodyRule,
  Contract,
  Exempted,
  Operation,
  ReadContract,
  RequestInput,
  RequestResult,
  ResponseInput,
  ResponseResult,
  TargetPaths,
} from './types.ts';
