import { AxeBuilder } from '@axe-core/playwright';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultFields } from '../../../src/core/lead/mapping.ts';
import { sampleViews } from '../../../src/reminders/compose/template-mistakes.ts';
import { openTemplates } from '../../../src/reminders/compose/templates.ts';
import { launchChromium } from '../../support/browser.ts';

const templates = await openTemplates(null, () => {});
/** A moved one looks like a reminder. */
const kinds = ['reminder', 'cancelled', 'digest'] as const;

describe('mails in Chromium', { tags: 'chromium' }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  test.each([
    ['light', 900, 'en'],
    ['dark', 320, 'de'],
  ] as const)(
    'every mail, %s and %d wide, in %s: enough contrast, nothing beside the screen',
    async (colorScheme, width, language) => {
      const context = await browser.newContext({ colorScheme, viewport: { width, height: 700 } });
      const page = await context.newPage();
      const made = templates.in(language);
      const views = sampleViews(defaultFields, made);
      for (const kind of kinds)
        for (const view of kind === 'reminder' ? views[kind] : views[kind].slice(0, 1)) {
          await page.setContent(made.render(`${kind}.html`, view));
          // A mail is no page of a site.
          const { violations } = await new AxeBuilder({ page })
            .disableRules(['landmark-one-main', 'region'])
            .analyze();
          const found = violations.map(
            ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`,
          );
          expect(found, kind).toEqual([]);
          expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), kind).toBe(0);
        }
      await context.close();
    },
  );
});
