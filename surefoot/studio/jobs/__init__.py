"""Work beside the server: jobs in processes of their own, and the thread of each tab."""

from surefoot.studio.jobs.mailbox import Mailbox, Work
from surefoot.studio.jobs.queue import Job, JobQueue

__all__ = ["Job", "JobQueue", "Mailbox", "Work"]
