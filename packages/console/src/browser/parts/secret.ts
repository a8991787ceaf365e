import { type ComponentChildren, h } from 'preact';
import { useState } from 'preact/hooks';

/** A secret that is shown this once, to be copied. It is nowhere kept: with this it is gone. */
export function SecretOnce({ secret, children }: { secret: string; children?: ComponentChildren }) {
  const [status, setStatus] = useState('');

  async function copy() {
    try {
      await navigator.clipboard.writeText(secret);
      setStatus('Copied.');
    } catch {
      // Browsers give no clipboard to pages without TLS on another machine.
      setStatus('Copy failed. Select the secret and copy it manually.');
    }
  }

  return h('div', { class: 'once' }, [
    h('p', null, children, ' It is shown only once: copy it before you close this.'),
    h('code', { class: 'secret' }, secret),
    h('p', { class: 'buttons' }, [
      h('button', { type: 'button', onClick: copy }, 'Copy the secret'),
      h('span', { role: 'status' }, status),
    ]),
  ]);
}
