-- The lease of the process that hands the mail to the server at this moment. Null: nobody does.
alter table reminders add column sender uuid;
alter table digests add column sender uuid;
