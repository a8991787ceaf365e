import { span } from '@storegate/admin-api/text';
import { type ComponentType, h, render } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import {
  ApiError,
  type Session,
  SIGNED_OUT,
  signedOut,
  signOut,
  whoIsSignedIn,
} from './api/client.ts';
import { notifyTabs, onTabMessage } from './api/tabs.ts';
import { Idle } from './idle.ts';
import { Failure } from './parts/view.ts';
import { linkTo, type Place, usePlace } from './routing.ts';
import { Search } from './search.ts';
import { SecretRefused, useLeftForSecret } from './secrets.ts';
import { SessionContext } from './session.ts';
import { SignIn } from './sign-in.ts';
import { Audit } from './views/audit.ts';
import { Bans } from './views/bans.ts';
import { Configuration } from './views/configuration.ts';
import { Gateways } from './views/gateways.ts';
import { Keys } from './views/keys.ts';
import { Overview } from './views/overview.ts';
import { Plans } from './views/plans.ts';
import { Requests } from './views/requests.ts';
import { Top } from './views/top.ts';
import { Usage } from './views/usage.ts';

const REFUSED = 'You were signed out. Sign in again to continue.';

/** The whole console: who is signed in, where one can go, and the view of the place. */
function App() {
  const [session, setSession] = useState<Session | null>(null);
  /** Why the session has ended. */
  const [ended, setEnded] = useState<string | null>(null);
  const [error, setError] = useState<ApiError | null>(null);

  const fail = useCallback((failure: unknown) => {
    if (!(failure instanceof ApiError)) throw failure;
    setError(failure);
  }, []);
  const end = useCallback((why: string) => {
    // A call that is refused after that has no better reason.
    setEnded((before) => before ?? why);
    setSession(SIGNED_OUT);
  }, []);
  const take = useCallback(
    (next: Session) => {
      if (next.operator) {
        // Signed in again in another tab: the earlier reason does not apply to the next end.
        setEnded(null);
        setSession(next);
      } else end(REFUSED);
    },
    [end],
  );
  const endByIdle = useCallback(
    (idle: number) => {
      end(`You were signed out after ${span(idle)} of inactivity.`);
      // The gateway ends the session by itself too, should it not hear of this.
      signOut().catch(() => {});
    },
    [end],
  );

  useEffect(() => {
    whoIsSignedIn().then(setSession, fail);
    const listening = new AbortController();
    const { signal } = listening;
    onTabMessage(
      'session',
      () => void whoIsSignedIn().then(take, fail),
      signal,
    );
    signedOut.addEventListener('ended', () => end(REFUSED), { signal });
    return () => listening.abort();
  }, [end, take, fail]);

  function enter(next: Session) {
    setEnded(null);
    setSession(next);
    notifyTabs('session');
  }
  const leave = () => signOut().then(enter, fail);

  if (error)
    return h(
      'main',
      { class: 'sign-in' },
      h('h1', null, 'storegate console'),
      h(Failure, { error }),
    );
  if (session === null)
    return h(
      'main',
      { class: 'sign-in', 'aria-busy': true },
      h('p', { class: 'loading' }, 'Loading …'),
    );
  if (session.operator === null) return h(SignIn, { ended, onSignedIn: enter });
  return h(SessionContext.Provider, { value: session }, [
    h(Frame, { session, onSignOut: leave }),
    !session.open &&
      h(Idle, {
        idle: session.idle * 1_000,
        onReported: take,
        onSignOut: leave,
        onIdle: endByIdle,
      }),
  ]);
}

function Frame({
  session,
  onSignOut,
}: {
  session: Session;
  onSignOut: () => void;
}) {
  const place = usePlace();
  const secret = useLeftForSecret(place);
  const [name, , view] =
    VIEWS.find(([each]) => each === place.view) ?? VIEWS[0]!;
  const { operator, open } = session;
  const nav = useRef<HTMLElement>(null);
  // On a phone the views are in one line, of which a part is seen.
  useEffect(() => {
    const { offsetLeft, offsetWidth } =
      nav.current!.querySelector<HTMLElement>('[aria-current]')!;
    nav.current!.scrollLeft =
      offsetLeft - (nav.current!.clientWidth - offsetWidth) / 2;
  }, [name]);
  return [
    h(
      'a',
      { class: 'skip', href: '#content', onClick: skip },
      'Skip to the content',
    ),
    h('header', { class: 'top' }, [
      h('a', { class: 'brand', href: linkTo(VIEWS[0]![0]) }, 'storegate'),
      h(Search, null),
      h('p', { class: 'who' }, [
        h(
          'span',
          null,
          operator!.name,
          ' ',
          h('span', { class: 'role' }, operator!.role),
        ),
        !open &&
          h('button', { type: 'button', onClick: onSignOut }, 'Sign out'),
      ]),
    ]),
    h('nav', { 'aria-label': 'Views', ref: nav }, [
      h('ul', null, [
        VIEWS.map(([each, title]) =>
          h('li', { key: each }, [
            h(
              'a',
              {
                href: linkTo(each),
                'aria-current': each === name ? 'page' : undefined,
              },
              title,
            ),
          ]),
        ),
        h(
          'li',
          { class: 'apart' },
          h('a', { href: '/console/reference/' }, 'API reference'),
        ),
      ]),
    ]),
    // A new key makes a new view: another place of the same view starts empty, and its heading
    // takes the focus.
    h('main', { id: 'content', tabIndex: -1 }, [
      h(SecretRefused, { query: place.query }),
      !secret && h(view, { key: `${name}/${place.rest}`, place }),
    ]),
  ];
}

/** The address is that of the view, so the link moves the focus by itself. */
function skip(event: MouseEvent) {
  event.preventDefault();
  document.getElementById('content')?.focus();
}

/**
 * All views in the order of the navigation; the first opens the console. `name`: the first part of
 * the address.
 */
const VIEWS: readonly (readonly [
  name: string,
  title: string,
  view: ComponentType<{ place: Place }>,
])[] = [
  ['overview', 'Overview', Overview],
  ['keys', 'Keys', Keys],
  ['requests', 'Requests', Requests],
  ['top-clients', 'Top clients', Top],
  ['usage', 'Usage', Usage],
  ['bans', 'Bans', Bans],
  ['plans', 'Plans', Plans],
  ['audit', 'Audit', Audit],
  ['configuration', 'Configuration', Configuration],
  ['gateways', 'Gateways', Gateways],
];

render(h(App, null), document.getElementById('console')!);
