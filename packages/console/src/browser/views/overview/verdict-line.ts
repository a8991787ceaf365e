import { h } from 'preact';
import type { StreamState } from '../../api/stream.ts';
import { linkTo } from '../../routing.ts';
import type { Trouble } from './verdict.ts';

const TITLES: Readonly<Record<Trouble['view'], string>> = {
  gateways: 'Gateways',
  requests: 'Requests',
  'top-clients': 'Top clients',
  configuration: 'Configuration',
};

interface VerdictProps {
  readonly troubles: readonly Trouble[];
  /** Whether there is anything to judge by. */
  readonly known: boolean;
  readonly stream: StreamState;
}

/** Whether all is well; if not, each trouble with a link to its view. */
export function VerdictLine({ troubles, known, stream }: VerdictProps) {
  const tone = !known ? 'plain' : (troubles[0]?.tone ?? (stream.status === 'lost' ? 'warn' : 'good'));
  return h('section', { class: `verdict ${tone}`, 'aria-label': 'Verdict' }, [
    h('p', { class: 'verdict-line', role: 'status' }, headline(troubles, known, stream)),
    troubles.length > 0 &&
      h(
        'ul',
        null,
        troubles.map(({ tone, words, view }) =>
          h('li', { key: words, class: tone }, `${words} `, h('a', { href: linkTo(view) }, TITLES[view])),
        ),
      ),
  ]);
}

function headline(troubles: readonly Trouble[], known: boolean, { status }: StreamState): string {
  if (!known) return status === 'lost' ? 'Unknown: the gateway does not respond.' : 'Looking …';
  if (troubles.length === 0) return status === 'lost' ? 'OK at last contact.' : 'OK';
  return troubles[0]!.tone === 'bad' ? 'Down' : 'Degraded';
}
