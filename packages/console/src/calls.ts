import type { Answers, Calls } from './admin-api.ts';

// The compiler compares each call of the console and the command line with the contract of the
// admin API.

/**
 * The operation of a method and a path such as `/keys/${string}`; `never`: it is not in the
 * contract.
 */
type OperationOf<Method extends string, Path extends string> = {
  [Id in keyof Calls]: [`${Method} ${Path}`, Calls[Id]['request']] extends [
    Calls[Id]['request'],
    `${Method} ${Path}`,
  ]
    ? Id
    : never;
}[keyof Calls];

/** Undefined values are not sent. */
type Optional<T> = { readonly [Name in keyof T]?: T[Name] | undefined };

interface Sent<Id extends keyof Calls> {
  readonly query?: QueryOf<Id>;
  readonly body?: BodyOf<Id>;
}

export type BodyOf<Id extends keyof Calls> = Calls[Id] extends { readonly body: infer Body }
  ? Optional<Body>
  : undefined;

export type QueryOf<Id extends keyof Calls> = Calls[Id] extends {
  readonly query: infer Name extends string;
}
  ? Optional<Record<Name, string | number | boolean>>
  : undefined;

/** The last arguments of a call; none fit a call that is not in the contract. */
export type SentTo<Method extends string, Path extends string, More> = [
  OperationOf<Method, Path>,
] extends [never]
  ? [sent: never]
  : [sent?: Sent<OperationOf<Method, Path>> & More];

export type AnswerTo<Method extends string, Path extends string> = Answers[OperationOf<
  Method,
  Path
>];
