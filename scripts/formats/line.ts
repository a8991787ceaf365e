export function line(name: string, notes: readonly (string | false)[]): string {
  const text = notes.filter(Boolean).join(', ');
  return text === '' ? name : `${name}: ${text}`;
}
