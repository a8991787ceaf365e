import { h, render } from 'preact';
import { App } from './app.ts';

render(h(App, null), document.getElementById('console')!);
