// Keeps the lines "Running now" up to date. Without it the page shows all as of the moment it was made.
// The root of the site, which may lie below a path.
const root = new URL('..', document.currentScript.src).href;
const lines = [...document.querySelectorAll('[data-progress]')];
const announce = document.getElementById('live');
const running = new Map(
  lines.filter((line) => !line.hidden).map((line) => [line.dataset.progress, line.dataset.run]),
);
/** The newest sync of each connection whose end the page shows. */
const shown = new Map(lines.map((line) => [line.dataset.progress, Number(line.dataset.ended)]));

function say(text) {
  if (announce !== null) announce.textContent = text;
}

function hideWaiting(connection) {
  document.querySelector(`[data-waiting="${connection}"]`)?.remove();
}

/** Links to the result, which a new page shows: the reader stays on this one. */
function showEnd(line, connection, run) {
  const text = line.querySelector('[data-text]');
  hideWaiting(connection);
  line.hidden = false;
  shown.set(connection, run);
  const link = document.createElement('a');
  link.href = `${root}runs/${run}`;
  link.textContent = `run ${run} has ended`;
  line.querySelector('strong').textContent = 'Just now';
  text.replaceChildren(link);
  line.classList.add('ended');
  say(`${connection}: run ${run} has ended`);
}

function show({ running: live, ended }) {
  for (const line of lines) {
    const connection = line.dataset.progress;
    const now = live[connection];
    const before = running.get(connection);
    if (now !== undefined) {
      hideWaiting(connection);
      line.hidden = false;
      line.classList.remove('ended');
      line.querySelector('strong').textContent = 'Running now';
      line.querySelector('[data-text]').textContent = `run ${now.run}: ${now.text}`;
      if (before !== String(now.run)) say(`${connection}: run ${now.run} has begun`);
      running.set(connection, String(now.run));
    } else if (before !== undefined) {
      running.delete(connection);
      showEnd(line, connection, Number(before));
    } else if (ended[connection] > shown.get(connection)) {
      // It began and ended between two looks.
      showEnd(line, connection, ended[connection]);
    }
  }
}

/** Ms between two looks. */
const everyMs = 1_000;

async function look() {
  // Whoever is logged out is not asked again and again.
  const isOver = !document.hidden && (await ask().catch(() => false));
  if (!isOver) setTimeout(look, everyMs);
}

async function ask() {
  const reply = await fetch(`${root}live`);
  if (reply.ok) show(await reply.json());
  return reply.status === 401 || reply.status === 403;
}

if (lines.length > 0) void look();
