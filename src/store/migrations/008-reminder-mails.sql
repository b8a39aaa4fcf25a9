alter table reminders
  -- The Date of the mail, also of one that is sent again.
  add first_tried_at timestamptz,
  -- How often the mail server left it open whether it had taken the mail; that the process ended meanwhile is not counted.
  add unknowns int not null default 0;
alter table digests
  add first_tried_at timestamptz,
  add unknowns int not null default 0;
-- Of before it was told apart, a doubt is the mail server's.
update reminders set unknowns = doubts where doubts > 0;
update digests set unknowns = doubts where doubts > 0;
-- Where the row was when the target was last read; null: not there, or not read since it was made.
alter table pairs add row_number int;
alter table follow_ups
  -- Planned from what the service showed when a mail was to leave, not from what was agreed on: until the next sync.
  add is_read boolean not null default false;
