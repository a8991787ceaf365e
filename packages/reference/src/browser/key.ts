import { h, render } from 'preact';
import {
  basicToken,
  isBasic,
  type KeyHeaders,
  keyField,
} from './model/credentials.ts';
import type { SecurityScheme } from './model/document.ts';
import { formOf, type KeyForm } from './model/key-form.ts';
import { windowText } from './model/limits.ts';

const PREFIX = 'storegate.';

const VERDICTS: Readonly<Record<KeyForm, string>> = {
  own: 'This has the form of a key.',
  damaged:
    'This begins like a key, but something is missing or mistyped: please compare it with the original.',
  other:
    'This does not look like a key of this gateway. If it is a key of another system, you can use it all the same.',
  impossible: 'This is not a key: it has characters that no key has.',
};

export type Secrets = ReturnType<typeof createSecrets>;

/**
 * The key, as `key`, and tokens of the API by the names of their schemes. The tab keeps them; the
 * device keeps them only on request. They never appear in the page, the address or a log.
 */
export function createSecrets() {
  const device = opened(() => localStorage);
  const tab = opened(() => sessionStorage);
  /** Where the browser forbids storage, secrets live as long as the page. */
  const page = new Map<string, string>();

  function get(name: string): string | null {
    const stored =
      device?.getItem(PREFIX + name) ?? tab?.getItem(PREFIX + name);
    return stored ?? page.get(name) ?? null;
  }

  function set(name: string, secret: string, onDevice: boolean): void {
    remove(name);
    page.set(name, secret);
    (onDevice ? device : tab)?.setItem(PREFIX + name, secret);
  }

  function remove(name: string): void {
    page.delete(name);
    for (const storage of [tab, device]) storage?.removeItem(PREFIX + name);
  }

  function isOnDevice(name: string): boolean {
    return device?.getItem(PREFIX + name) != null;
  }

  return { get, set, remove, isOnDevice };
}

/** `null` if the browser forbids storage. */
function opened(storage: () => Storage): Storage | null {
  try {
    return storage();
  } catch {
    return null;
  }
}

/** Fields for the tokens of the API, which the server does not know. */
export function drawSchemes(
  schemes: ReadonlyMap<string, SecurityScheme>,
): void {
  const fields = [...schemes].map(([name, scheme]) =>
    h('label', { key: name, class: 'scheme' }, [
      h('span', null, `${name}, a token of the API itself`),
      h('input', {
        type: 'password',
        autoComplete: 'off',
        'data-secret': name,
        'data-basic': isBasic(scheme) || undefined,
        placeholder: hintOf(scheme),
      }),
    ]),
  );
  render(fields, document.getElementById('key-schemes')!);
}

function hintOf(scheme: SecurityScheme): string {
  const { type, in: place, name } = scheme;
  if (type === 'apiKey') return `${place} ${name}`;
  return isBasic(scheme) ? 'user:password' : 'access token';
}

export function connectForm(form: HTMLFormElement, secrets: Secrets): void {
  const find = <T extends HTMLElement>(name: string) =>
    document.getElementById(`key-${name}`) as T;
  const field = find<HTMLInputElement>('secret');
  const remember = find<HTMLInputElement>('remember');
  const forget = find<HTMLButtonElement>('forget');
  const note = find('note');
  const fields = () => [
    ...form.querySelectorAll<HTMLInputElement>('[data-secret]'),
  ];
  const nameOf = ({ dataset }: HTMLInputElement) => dataset.secret!;

  function show(text: string): void {
    const given = fields().some((one) => secrets.get(nameOf(one)) !== null);
    forget.hidden = !given;
    form.classList.toggle('given', given);
    if (text) note.textContent = text;
  }

  /** Says whose key it is as soon as the gateway has answered. */
  async function check(text: string): Promise<void> {
    const { usage, headers = '' } = form.dataset;
    const secret = secrets.get('key');
    show(text);
    if (secret === null || !usage) return;
    note.textContent = `${text} ${await usageText(usage, headers.split(' '), secret)}`;
  }

  field.addEventListener('input', (event) => {
    const secret = field.value.trim();
    const typing =
      (event as InputEvent).data?.length === 1 && formOf(secret) !== 'own';
    if (secret !== '' && !typing) show(VERDICTS[formOf(secret)]);
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const given = fields().filter(({ value }) => value.trim() !== '');
    const secret = field.value.trim();
    const verdict = secret === '' ? null : formOf(secret);
    if (given.length === 0) return show('Paste your key first.');
    if (verdict === 'impossible') return show(VERDICTS.impossible);
    for (const one of given) {
      const text = one.value.trim();
      const token = one.dataset.basic === undefined ? text : basicToken(text);
      secrets.set(nameOf(one), token, remember.checked);
      one.value = '';
    }
    const kept = remember.checked
      ? 'Your key is remembered on this device.'
      : 'Your key is kept until you close this tab.';
    void check(
      verdict === null || verdict === 'own'
        ? kept
        : `${kept} ${VERDICTS[verdict]}`,
    );
  });
  forget.addEventListener('click', () => {
    for (const one of fields()) secrets.remove(nameOf(one));
    field.focus();
    show('Your key is forgotten.');
  });
  remember.checked = secrets.isOnDevice('key');
  void check(secrets.get('key') === null ? '' : 'Your key is in use.');
}

interface Usage {
  readonly plan: string;
  readonly windows: readonly {
    readonly name: string;
    readonly limit: number;
    readonly remaining: number;
  }[];
}

/** Plan and remaining quota of a key, or why the gateway refuses it. Costs nothing. */
async function usageText(
  url: string,
  headers: KeyHeaders,
  secret: string,
): Promise<string> {
  try {
    const response = await fetch(url, {
      headers: [[...keyField(headers, secret)]],
      cache: 'no-store',
    });
    const body = await response.json();
    if (!response.ok) return `The gateway refuses it: ${body.message}`;
    const { plan, windows } = body as Usage;
    return `Plan ${plan}: ${windows.map(windowText).join(', ')}.`;
  } catch {
    return 'The gateway could not be asked about it.';
  }
}
