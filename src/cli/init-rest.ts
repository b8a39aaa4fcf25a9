import { recipients as recipientsRule, schedule, sender as senderRule, timeZone } from '../config/values.ts';
import { Secret } from '../config/secret.ts';
import type { Answers, SecretAnswer } from '../setup/answers.ts';
import { cronOf, usualSchedules } from '../setup/schedule-words.ts';
import { tryMailServer } from '../setup/try-access.ts';
import type { Dialogue } from './init-dialogue.ts';
import { type Given, listed, machineZone } from './init-given.ts';
import type { Interview } from './init-interview.ts';
import { mistakeIn } from './init-questions.ts';

const own = '\0own';

/** A cron pattern. */
export async function askSchedule(ui: Dialogue, given: Given): Promise<string> {
  if (given.schedule !== undefined) return given.schedule;
  const [nightly] = usualSchedules;
  const chosen = await ui.choose({ message: 'When to sync?', flag: '--schedule', proposal: nightly.cron }, [
    ...usualSchedules.map(({ words, cron, means }) => ({ value: cron, label: words, hint: means })),
    { value: own, label: 'at other times' },
  ]);
  if (chosen !== own) return chosen;
  const written = await ui.text({
    message: 'When? In words, or a cron pattern',
    flag: '--schedule',
    example: 'every 2 hours, daily at 7:30, 0 6 * * 1-5',
    check: (answer) => mistakeIn(schedule, cronOf(answer)),
  });
  return schedule.parse(cronOf(written));
}

export async function askTimeZone(ui: Dialogue, given: Given): Promise<string> {
  return (
    given.timeZone ??
    (await ui.text({
      message: 'Time zone of the schedule, and of dates in the table',
      flag: '--time-zone',
      proposal: machineZone(),
      check: (answer) => mistakeIn(timeZone, answer),
    }))
  );
}

/** Recipients of reminders, and how mails are sent. @param isDated whether the date of the follow-up has a column */
export async function askReminders(
  interview: Interview,
  given: Given,
  isDated: boolean,
): Promise<Pick<Answers, 'recipients' | 'sender' | 'smtpUrl'>> {
  const { ui } = interview;
  const nobody = { recipients: [], sender: null, smtpUrl: null };
  if (!isDated) {
    ui.say('No reminders: the date of the next follow-up has no column.');
    return nobody;
  }
  const recipients =
    given.recipients ??
    listed(
      await ui.text({
        message: 'Who gets reminders of follow-ups? (empty: nobody)',
        flag: '--remind',
        proposal: '',
        example: 'anna@example.com, ben@example.com',
        check: (answer) => (answer === '' ? null : mistakeIn(recipientsRule, listed(answer))),
      }),
    );
  if (recipients.length === 0) return nobody;
  const smtpUrl = await askMailServer(interview);
  if (smtpUrl === null) return { recipients, sender: given.sender ?? null, smtpUrl };
  const user = decodeURIComponent(new URL(smtpUrl.value.reveal()).username);
  const sender =
    given.sender ??
    (await ui.text({
      message: 'Sender of the mails',
      flag: '--sender',
      proposal: mistakeIn(senderRule, user) === null ? user : (recipients[0] ?? ''),
      example: 'Sales <sales@example.com>',
      check: (answer) => mistakeIn(senderRule, answer),
    }));
  return { recipients, sender, smtpUrl };
}

/** Connects and logs in; sends nothing. Null: mails become files. */
async function askMailServer(interview: Interview): Promise<SecretAnswer | null> {
  const { ui } = interview;
  if (!interview.has('SMTP_URL') && !ui.isTerminal) {
    ui.say('No mail server (SMTP_URL, --smtp-url-file): reminders become files in data/outbox.');
    return null;
  }
  let [server, user] = ['', ''];
  return interview.untilItWorks({ key: ['SMTP_URL'], place: [] }, async () => {
    if (!interview.has('SMTP_URL')) {
      server = await ui.text({
        message: 'Mail server, HOST:PORT (empty: mails become files)',
        flag: '--smtp-url-file',
        proposal: server,
        example: 'smtp.example.com:587',
        check: (answer) => (answer === '' || /^[^\s/@:]+:\d{1,5}$/.test(answer) ? null : 'must be HOST:PORT'),
      });
      if (server === '') return null;
      user = await ui.text({
        message: 'User name at the mail server (empty: it wants none)',
        flag: '--smtp-url-file',
        proposal: user,
      });
      const password = user === '' ? null : await ui.secret({ message: 'Password', flag: '--smtp-url-file' });
      interview.set('SMTP_URL', { value: smtpUrlOf(server, user, password) });
    }
    const known = await interview.secret('SMTP_URL');
    await tryMailServer(known.value);
    ui.say('The mail server answers and takes the login. No mail was sent.');
    return known;
  });
}

/** Port 465 speaks TLS from the start. */
function smtpUrlOf(server: string, user: string, password: Secret | null): Secret {
  const login =
    password === null ? '' : `${encodeURIComponent(user)}:${encodeURIComponent(password.reveal())}@`;
  return new Secret(`${server.endsWith(':465') ? 'smtps' : 'smtp'}://${login}${server}`);
}
