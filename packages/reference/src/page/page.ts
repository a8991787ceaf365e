import { type Html, html } from '@storegate/pages';
import type { ReferenceAssets } from '../files.ts';
import { contentsButton, type Link, type Listed, navigation } from './navigation.ts';

/** A `section` element with this id. */
export interface Section {
  readonly id: string;
  readonly title: string;
  readonly markup: Html;
}

export interface PageContent {
  readonly title: string;
  readonly version: string;
  readonly assets: ReferenceAssets;
  /** The first is JSON, from which the operations are drawn. */
  readonly documents: readonly [Link, ...Link[]];
  readonly operations: readonly Listed[];
  readonly tagGroups: unknown;
  readonly others?: readonly Link[];
  readonly start: Html;
  readonly sections: readonly Section[];
}

/**
 * Swagger UI draws the operations into `#reference`. The rest is readable without scripts and stays in place when they
 * appear.
 */
export function renderPage(content: PageContent): string {
  const { title, version, assets, documents, operations, tagGroups, others = [], start, sections } = content;
  const parts = sections.map(({ id, title }) => ({ href: `#${id}`, text: title }));
  const guide = [...others, { href: '#start', text: 'Start here' }, ...parts];
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · API reference</title>
${files(assets)}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top"><a class="brand" href="#start"><img src="${assets.base}icon.svg" alt="" width="28" height="28">${title}
<span class="version">${version}</span></a>
<span class="contract">Contract:${documents.map(({ href, text }) => html` <a href="${href}">${text}</a>`)}</span>
${contentsButton()}</header>
<div class="columns">
${navigation({ guide, documents, operations, tagGroups })}
<main id="content" tabindex="-1">
<section id="start" aria-labelledby="title">
<h1 id="title">${title}</h1>
${start}
</section>
<p id="announcement" class="unseen" role="status"></p>
<div id="reference" class="reference" data-contract="${documents[0].href}" aria-busy="true"><p class="loading">Drawing the operations …</p>
<noscript><p>The operations are drawn by a script. Without it, read the contract itself:${documents.map(
    ({ href }) => html` <a href="${href}">${href.slice(href.lastIndexOf('/') + 1)}</a>`,
  )}.</p></noscript></div>
${sections.map(({ markup }) => html`${markup}\n`)}</main>
</div>
</body>
</html>
`.text;
}

function files({ base, modules, styles }: ReferenceAssets): Html {
  return html`<link rel="icon" href="${base}icon.svg" type="image/svg+xml">
${styles.map((style) => html`<link rel="stylesheet" href="${base}${style}">`)}
<script src="${base}swagger-ui.js" defer></script>
<script type="module" src="${base}${modules[0]!}"></script>
${modules.slice(1).map((module) => html`<link rel="modulepreload" href="${base}${module}">`)}`;
}
