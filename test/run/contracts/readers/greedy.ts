const all: string[][] = [];
for (;;) all.push(Array.from({ length: 10_000 }, (_, i) => `${all.length} ${i}`));
