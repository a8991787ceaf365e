import type { Eventually } from '../common/eventually.ts';
import type { Answers } from '../observe/peers/fleet.ts';
import {
  type Explained,
  isRequestId,
  type ListedRequest,
  mergeExplained,
  type RequestFilter,
  readFilter,
} from '../observe/peers/requests.ts';

/** Who has the last requests: this process, or its workers. */
export interface RequestSource {
  explain(id: string): Eventually<Explained>;
  refusals(filter: RequestFilter): Eventually<readonly ListedRequest[]>;
}

/** A gateway's answers about the last requests. What is no id, or no filter, finds nothing. */
export function requestAnswers(source: RequestSource): Pick<Answers, 'explain' | 'refusals'> {
  return {
    explain: (id) => (isRequestId(id) ? source.explain(id) : mergeExplained([])),
    refusals(sent) {
      const filter = readFilter(sent);
      return filter === null ? [] : source.refusals(filter);
    },
  };
}
