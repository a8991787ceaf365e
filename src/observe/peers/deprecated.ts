import { has, isMoment, isText, listOf, type Of } from '../../common/shapes.ts';
import { peerQuery } from './query.ts';

const isCall = has({ operation: isText, at: isMoment });

/** `at`: the last call. */
export interface DeprecatedCall extends Of<typeof isCall> {}

interface Uses {
  /** Unix milliseconds by operation. */
  deprecatedBy(keyId: string): ReadonlyMap<string, number>;
}

/** The deprecated operations that a key called. */
export const deprecated = peerQuery({
  name: 'deprecated',
  isArgument: isText,
  otherwise: [],
  part: ({ uses }: { readonly uses: Uses }, keyId) =>
    [...uses.deprecatedBy(keyId)].map(([operation, at]) => ({ operation, at })),
  respond({ parts }) {
    const calls = parts.flat().sort((one, other) => one.at - other.at);
    return [...new Map(calls.map((call) => [call.operation, call])).values()];
  },
  isResponse: listOf(isCall),
});
