import { peerQuery } from './query.ts';
import { type Explained, isExplained, isRequestId, mergeExplained } from './requests.ts';

export const explain = peerQuery({
  name: 'explain',
  isArgument: isRequestId,
  otherwise: mergeExplained([]),
  part: ({ recent }: { readonly recent: { explain(id: string): Explained } }, id) => recent.explain(id),
  answer: ({ parts }) => mergeExplained(parts),
  isAnswer: isExplained,
});
