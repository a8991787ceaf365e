export function inTwo(bytes: string): string[][] {
  return Array.from({ length: bytes.length - 1 }, (_, i) => [
    bytes.slice(0, i + 1),
    bytes.slice(i + 1),
  ]);
}

export function inThree(bytes: string): string[][] {
  return inTwo(bytes).flatMap(([first, rest]) =>
    rest!.length < 2 ? [] : inTwo(rest!).map((pair) => [first!, ...pair]),
  );
}

export function bytewise(bytes: string): string[] {
  return [...bytes];
}

export function inHundreds(bytes: string): string[] {
  return bytes.match(/.{1,100}/gs) ?? [];
}
