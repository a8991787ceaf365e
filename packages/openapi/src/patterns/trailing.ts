import { type CharacterSet, complement, includes, TEXT_END, TEXT_START } from './characters.ts';
import type { Term } from './syntax.ts';

const END: Term = { kind: 'character', set: [[TEXT_END, TEXT_END]] };

export function withoutLookaheadAtEnd(term: Term): Term {
  if (term.kind === 'lookahead') return term.negative ? (missing(term.body) ?? term) : withoutLookaheadAtEnd(term.body);
  if (term.kind === 'choice') {
    const options = term.options.map(withoutLookaheadAtEnd);
    return options.every((option, i) => option === term.options[i]) ? term : { kind: 'choice', options };
  }
  if (term.kind !== 'sequence') return term;
  const before = term.parts.slice(0, -1);
  const last = term.parts.at(-1);
  const end = last && withoutLookaheadAtEnd(last);
  return end === last ? term : { kind: 'sequence', parts: [...before, end!] };
}

/** The end of the text, or another character at one position. */
function missing(body: Term): Term | null {
  const row = body.kind === 'sequence' ? body.parts : [body];
  const sets: CharacterSet[] = [];
  for (const part of row) {
    if (part.kind !== 'character' || includes(part.set, TEXT_START)) return null;
    if (sets.some((set) => includes(set, TEXT_END))) return null;
    sets.push(part.set);
  }
  const others = sets.map(otherThan);
  // An empty sequence matches everywhere.
  if (others.length === 0) return null;
  const options = others.map((other, i) => ({ kind: 'sequence', parts: [...row.slice(0, i), other] }) as const);
  return { kind: 'choice', options };
}

function otherThan(set: CharacterSet): Term {
  const any: Term = { kind: 'character', set: complement(set) };
  return includes(set, TEXT_END) ? any : { kind: 'choice', options: [any, END] };
}
