import { randomUUID } from 'node:crypto';
import type { Eventually } from '../common/eventually.ts';
import type { Recorder } from '../observe/history/recorder.ts';
import {
  type LiveAnswer,
  type LiveOfProcess,
  type LiveQuestion,
  mergeLive,
  packCounted,
} from '../observe/peers/live.ts';
import type { ProcessStatus } from '../observe/peers/status.ts';
import type { RecentRequests } from '../observe/request-log/recent.ts';

export interface LiveParts {
  readonly recorder: Pick<Recorder, 'total'>;
  readonly recent: Pick<RecentRequests, 'upTo' | 'refusalsAfter'>;
  readonly status: () => ProcessStatus;
}

/** Makes what this process, which carries requests, answers to questions how it stands now. */
export function liveProcess({ recorder, recent, status }: LiveParts): (question: LiveQuestion) => LiveOfProcess {
  const id = randomUUID();
  const began = performance.now();
  return ({ followed, after }) => {
    const { upTo } = recent;
    const known = Object.hasOwn(after, id) ? after[id]! : upTo;
    return {
      id,
      age: Math.round(performance.now() - began),
      counted: packCounted(recorder.total),
      upTo,
      status: status(),
      refusals: recent.refusalsAfter(known, followed),
    };
  };
}

/** The answer of a gateway with these processes. */
export async function liveAnswer(
  question: LiveQuestion,
  gateway: Pick<LiveAnswer, 'readiness' | 'state' | 'workers'>,
  processes: Eventually<readonly LiveOfProcess[]>,
): Promise<LiveAnswer> {
  return { ...gateway, ...mergeLive(await processes, question) };
}
