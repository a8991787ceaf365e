import type { Fault } from '@storegate/openapi';
import type { Code } from '../common/errors/catalogue.ts';
import type { Refusal } from '../common/errors/refusals.ts';
import type { Operation } from '../config/contract/contract.ts';
import type { Admission, Readings } from '../limits/admission.ts';
import type { Scopes } from '../limits/scopes.ts';
import type {
  BackendName,
  ReportedFault,
  RequestSpan,
  Step,
} from '../observe/events.ts';
import type { Client } from '../records/keys/key.ts';
import type { Call } from './wire/call.ts';
import type { Head } from './wire/head.ts';

export type ReportFaults = (
  faults: readonly Fault[],
) => readonly ReportedFault[];

/** What events and refusals say of the API of a request. */
export interface ExchangeApi {
  /** `null`: the default API, or none yet. */
  readonly name: string | null;
  /** In events: its requests without an operation. */
  readonly none: string;
  /** In events: its requests that no contract describes, and their paths. */
  readonly undescribed: { readonly name: string; readonly path: string };
  /** The path of the API, which targets lack; `''`: they have it. */
  readonly stripped: string;
  /** Where clients find its contract; `null`: it has none, or its pages are disabled. */
  readonly document: string | null;
  readonly report: ReportFaults;
  /** What all of its requests count in; none if it is alone. */
  readonly scopes: Scopes;
}

/** Stages pass results to each other as values (see results.ts), never through the exchange. */
export interface Exchange {
  readonly id: string;
  readonly call: Call;
  head: Head;
  /** The first one, until one is found. */
  api: ExchangeApi;
  /** From the peer, or reported by a trusted proxy. */
  readonly address: string;
  readonly behindProxy: boolean;
  readonly span: RequestSpan | null;
  /** Milliseconds on the clock of `performance.now()`; 0: not reached. */
  readonly startedAt: number;
  authenticatedAt: number;
  admittedAt: number;
  /** That the pipeline has begun. */
  step: Step;
  /**
   * From a fixed set: an operationId, `undescribed`, `usage`, `reference`; `null` while unknown.
   */
  route: string | null;
  client: Client | null;
  operation: Operation | null;
  usage: Readings | null;
  /** Settles once the state has decided; `null`: it decided at once, or was not asked. */
  deciding: Promise<unknown> | null;
  admission: Admission | null;
  cost: number;
  scopes: Scopes;
  code: string | null;
  refusal: Refusal | null;
  /** The refusal that settings turned into a report. */
  reported: Code | null;
  forwardedAt: number;
  respondedAt: number;
  backend: BackendName | null;
  cancel: (() => void) | null;
}
