import { h } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, type Session, whoIsSignedIn } from './api/client.ts';
import { notifyTabs, onTabMessage } from './api/tabs.ts';
import { clockTime } from './format.ts';

/** What a person does; pages that ask again by themselves do none of it. */
const SIGNS = ['pointerdown', 'pointermove', 'keydown', 'wheel'] as const;
const WARNED_BEFORE = 60_000;
/** The activity of a person is reported to the gateway at most this often. */
const REPORT_INTERVAL = 15_000;

interface IdleProps {
  /** Milliseconds after which who does nothing is signed out. */
  readonly idle: number;
  /** Called with the response of the gateway to a report of activity. */
  readonly onReported: (session: Session) => void;
  readonly onSignOut: () => void;
  readonly onIdle: (idle: number) => void;
}

/**
 * Signs out an inactive operator, in all tabs together, and asks a minute before. The gateway ends
 * the session itself, because it counts only what is reported here; this removes the data from the
 * screen.
 */
export function Idle({ idle, onReported, onSignOut, onIdle }: IdleProps) {
  const used = useRef(Date.now());
  const warned = useRef(false);
  const [endsAt, setEndsAt] = useState<number | null>(null);

  const note = useCallback(() => {
    used.current = Date.now();
    warned.current = false;
    setEndsAt(null);
  }, []);

  const report = useCallback(() => {
    note();
    notifyTabs('used');
    whoIsSignedIn().then(onReported, (failure: unknown) => {
      // A gateway that does not respond gets the next report, and the views show that it does
      // not respond.
      if (!(failure instanceof ApiError)) throw failure;
    });
  }, [note, onReported]);

  useEffect(() => {
    // Only a click in the dialog counts: a moved mouse does not.
    const seen = () => {
      if (
        !warned.current &&
        Date.now() - used.current > Math.min(REPORT_INTERVAL, idle / 8)
      )
        report();
    };
    const listening = new AbortController();
    const { signal } = listening;
    for (const sign of SIGNS)
      addEventListener(sign, seen, { passive: true, capture: true, signal });
    onTabMessage('used', note, signal);
    const timer = setInterval(() => {
      const end = used.current + idle;
      if (Date.now() >= end) onIdle(idle);
      else if (Date.now() >= end - Math.min(WARNED_BEFORE, idle / 2)) {
        warned.current = true;
        setEndsAt(end);
      }
    }, 1_000);
    return () => {
      listening.abort();
      clearInterval(timer);
    };
  }, [idle, note, report, onIdle]);

  return endsAt === null
    ? null
    : h(StillThere, { endsAt, onStay: report, onSignOut });
}

/** The time of the end is fixed, so that a screen reader does not read a countdown. */
function StillThere({
  endsAt,
  onStay,
  onSignOut,
}: {
  endsAt: number;
  onStay: () => void;
  onSignOut: () => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return h(
    'dialog',
    {
      ref: dialog,
      role: 'alertdialog',
      onClose: onStay,
      'aria-labelledby': 'still-there',
      'aria-describedby': 'ends',
    },
    [
      h('h2', { id: 'still-there' }, 'Still there?'),
      h(
        'p',
        { id: 'ends' },
        `You will be signed out at ${clockTime(new Date(endsAt).toISOString())}.`,
      ),
      h('div', { class: 'buttons' }, [
        h(
          'button',
          {
            type: 'submit',
            autoFocus: true,
            onClick: () => dialog.current?.close(),
          },
          'Stay signed in',
        ),
        h('button', { type: 'button', onClick: onSignOut }, 'Sign out'),
      ]),
    ],
  );
}
