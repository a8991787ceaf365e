import { formOf, type KeyForm } from './key-form.ts';

const NAME = 'storegate.key';

/** The key never appears in the page, the address or a log. */
export interface Key {
  readonly secret: string | null;
}

const VERDICTS: Readonly<Record<KeyForm, string>> = {
  own: 'This has the form of a key.',
  damaged:
    'This begins like a key, but something is missing or mistyped: please compare it with the original.',
  other:
    'This does not look like a key of this gateway. If it is a key of another system, you can use it all the same.',
  impossible: 'This is not a key: it has characters that no key has.',
};

/** The tab keeps the key; the device keeps it only on request. "Forget it" removes it from both. */
export function connectKey(page: Document): Key {
  const form = page.getElementById('key') as HTMLFormElement;
  const field = page.getElementById('key-secret') as HTMLInputElement;
  const remember = page.getElementById('key-remember') as HTMLInputElement;
  const forget = page.getElementById('key-forget') as HTMLButtonElement;
  const note = page.getElementById('key-note')!;
  const device = opened(() => localStorage);
  const tab = opened(() => sessionStorage);
  const key = { secret: device?.getItem(NAME) ?? tab?.getItem(NAME) ?? null };

  function show(text: string): void {
    forget.hidden = key.secret === null;
    form.classList.toggle('given', key.secret !== null);
    if (text) note.textContent = text;
  }

  function keep(secret: string | null): void {
    key.secret = secret;
    for (const storage of [tab, device]) storage?.removeItem(NAME);
    if (secret !== null) (remember.checked ? device : tab)?.setItem(NAME, secret);
  }

  field.addEventListener('input', (event) => {
    const secret = field.value.trim();
    const typing = (event as InputEvent).data?.length === 1 && formOf(secret) !== 'own';
    if (secret !== '' && !typing) show(VERDICTS[formOf(secret)]);
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const secret = field.value.trim();
    if (secret === '') return show('Paste your key first.');
    const verdict = formOf(secret);
    if (verdict === 'impossible') return show(VERDICTS.impossible);
    keep(secret);
    field.value = '';
    const kept = remember.checked
      ? 'Your key is remembered on this device.'
      : 'Your key is kept until you close this tab.';
    show(verdict === 'own' ? kept : `${kept} ${VERDICTS[verdict]}`);
  });
  forget.addEventListener('click', () => {
    keep(null);
    field.focus();
    show('Your key is forgotten.');
  });
  remember.disabled = device === null;
  remember.checked = (device?.getItem(NAME) ?? null) !== null;
  show(key.secret === null ? '' : 'Your key is in use.');
  return key;
}

/** `null` if the browser forbids storage; the key then lives as long as the page. */
function opened(storage: () => Storage): Storage | null {
  try {
    return storage();
  } catch {
    return null;
  }
}
