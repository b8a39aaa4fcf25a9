import { html } from 'hono/html';
import { type Html, layout, type Menu } from './layout.ts';

/** A page that only says something. `back`: where its link leads. */
export function messagePage(title: string, message: string, menu: Menu, back = '/'): Html {
  return layout({
    title,
    body: html`<p>${message}</p><p><a href="${back}">${back === '/' ? 'Status' : 'Back'}</a></p>`,
    menu,
  });
}
