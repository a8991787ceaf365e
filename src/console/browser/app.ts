import { h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError, type Session, signedOut, signOut, whoIsSignedIn } from './api/client.ts';
import { Failure } from './parts/notice.ts';
import { linkTo, usePlace } from './routing.ts';
import { SessionContext } from './session.ts';
import { SignIn } from './sign-in.ts';
import { VIEWS } from './views.ts';

const NOBODY: Session = { operator: null, open: false };

/** The whole console: who is signed in, where one can go, and the view of the place. */
export function App() {
  const [session, setSession] = useState<Session | null>(null);
  const [ended, setEnded] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);

  useEffect(() => {
    whoIsSignedIn().then(setSession, (failure: unknown) => {
      if (!(failure instanceof ApiError)) throw failure;
      setError(failure);
    });
    const end = () => {
      setEnded(true);
      setSession(NOBODY);
    };
    signedOut.addEventListener('ended', end);
    return () => signedOut.removeEventListener('ended', end);
  }, []);

  if (error) return h('main', { class: 'sign-in' }, h('h1', null, 'storegate console'), h(Failure, { error }));
  if (session === null)
    return h('main', { class: 'sign-in', 'aria-busy': true }, h('p', { class: 'loading' }, 'Loading …'));
  if (session.operator === null) return h(SignIn, { ended, onSignedIn: setSession });
  return h(
    SessionContext.Provider,
    { value: session },
    h(Frame, { session, onSignOut: () => signOut().then(setSession) }),
  );
}

function Frame({ session, onSignOut }: { session: Session; onSignOut: () => void }) {
  const place = usePlace();
  const { name, view } = VIEWS.find((one) => one.name === place.view) ?? VIEWS[0]!;
  const { operator, open } = session;
  return [
    h('a', { key: 'skip', class: 'skip', href: '#content', onClick: skip }, 'Skip to the content'),
    h(
      'header',
      { key: 'top', class: 'top' },
      h('a', { class: 'brand', href: linkTo(VIEWS[0]!.name) }, 'storegate'),
      h(
        'p',
        { class: 'who' },
        h('span', null, operator!.name, ' ', h('span', { class: 'role' }, operator!.role)),
        !open && h('button', { type: 'button', onClick: onSignOut }, 'Sign out'),
      ),
    ),
    h(
      'nav',
      { key: 'nav', 'aria-label': 'Views' },
      h(
        'ul',
        null,
        VIEWS.map((one) =>
          h(
            'li',
            { key: one.name },
            h('a', { href: linkTo(one.name), 'aria-current': one.name === name ? 'page' : undefined }, one.title),
          ),
        ),
      ),
    ),
    // A new key makes a new view: another place of the same view begins anew, and its heading takes the focus.
    h('main', { key: 'main', id: 'content', tabIndex: -1 }, h(view, { key: `${name}/${place.rest}`, place })),
  ];
}

/** The address is that of the view, so the link moves the focus by itself. */
function skip(event: MouseEvent) {
  event.preventDefault();
  document.getElementById('content')?.focus();
}
