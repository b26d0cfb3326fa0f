import { SERVER_ANSWERS, SERVER_LOST, getHealth } from './service/requests.ts';
import { h } from './parts/element.ts';
import { showJob } from './job/job.ts';
import { showModelDay } from './model-day/model-day.ts';
import { showModel } from './model/model.ts';
import { showOverview } from './overview/overview.ts';
import { showReference } from './api/reference.ts';
import { markTabsAsDev } from './parts/page.ts';
import { startRouter } from './router.ts';
import { themeSwitch } from './parts/theme.ts';

/** The frame around every page, and which function fills it. */
function start(): void {
  const main = h('main', { id: 'main', tabindex: -1 });
  document.body.append(
    h('a', { class: 'skip', href: '/' }, 'Skip to the content'),
    h(
      'header',
      { class: 'top' },
      h('a', { href: '/', class: 'brand' }, 'Trading Simulation'),
      h('nav', { 'aria-label': 'Pages' }, h('a', { href: '/' }, 'Overview'), h('a', { href: '/api' }, 'API')),
      themeSwitch(),
    ),
    lostNotice(),
    main,
  );
  const skip = document.querySelector<HTMLAnchorElement>('.skip');
  skip?.addEventListener('click', (event) => {
    event.preventDefault();
    event.stopPropagation();
    main.focus();
  });
  void showMode();
  startRouter(main, {
    '/': showOverview,
    '/models/{model}': showModel,
    '/model-days/{model}/{date}': showModelDay,
    '/jobs/{job_id}': showJob,
    '/api': showReference,
  });
}

/** Stands over every page while the server does not answer. */
function lostNotice(): HTMLElement {
  const notice = h(
    'p',
    { class: 'notice bad lost', role: 'alert', hidden: true },
    'The server does not answer. What you see may be old; the page asks again in a moment.',
  );
  document.addEventListener(SERVER_LOST, () => (notice.hidden = false));
  document.addEventListener(SERVER_ANSWERS, () => (notice.hidden = true));
  return notice;
}

/** In DEV nothing on any page can be taken for a real result. */
async function showMode(): Promise<void> {
  const health = await getHealth(undefined).catch(() => null);
  if (!health?.is_dev_mode) return;
  const kept = health.preserve_dev_data ? 'kept over restarts' : 'erased at the next start';
  document.body.prepend(
    h(
      'div',
      { class: 'dev', role: 'note', 'aria-label': 'Development mode' },
      h('strong', {}, 'DEV'),
      h(
        'span',
        {},
        `Models are simulated and prices may be synthetic. Nothing here is a real result; data is ${kept}.`,
      ),
    ),
  );
  document.documentElement.classList.add('is-dev');
  markTabsAsDev();
}

start();
