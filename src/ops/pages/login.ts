import { html } from 'hono/html';
import { type Html, layout } from './layout.ts';

/** The login form. `next`: the requested path; `verdict`: on the last attempt. */
export function loginPage({ next, verdict }: { next: string; verdict?: 'wrong' | 'later' }): Html {
  const mistake = {
    wrong: 'This is not the token of this worker.',
    later: 'There were too many wrong tokens. Wait a few seconds, then try again.',
  };
  const body = html`${verdict === undefined ? '' : html`<p class="notice bad" role="alert" id="mistake">${mistake[verdict]}</p>`}
<form class="login" method="post" action="/login">
<input type="hidden" name="next" value="${next}">
<label for="token">Admin token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus maxlength="1000"
  ${verdict === undefined ? '' : html`aria-invalid="true"`} aria-describedby="${verdict === undefined ? 'hint' : 'mistake hint'}">
<p id="hint" class="hint">The value of <code>ADMIN_TOKEN</code>. The login lasts 12 hours.</p>
<button>Log in</button>
</form>`;
  return layout({ title: 'Log in', body, menu: null });
}
