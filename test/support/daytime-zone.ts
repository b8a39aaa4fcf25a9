/** An IANA zone of n hours ahead of UTC, -12 to 14, without clock changes. */
export function zoneAhead(hours: number): string {
  return hours === 0 ? 'UTC' : `Etc/GMT${hours > 0 ? '-' : '+'}${Math.abs(hours)}`;
}

/**
 * How many hours ahead of UTC it is about noon now, 9 to 14 o'clock, so that no test is run into by midnight. `west`: so
 * many hours west of it there is a zone too, with the same date.
 */
export function hoursAheadAtNoon(west: 0 | 6 | 7 = 0): number {
  const utcHour = new Date().getUTCHours();
  const ahead = [12, 13, 11, 10, 9]
    .flatMap((localHour) => [localHour - utcHour, localHour - utcHour + 24])
    .find((hours) => hours >= west - 12 && hours <= 14);
  if (ahead === undefined) throw new Error('there is such a zone at any time');
  return ahead;
}
