"""Every sentence that people read, in Chinese and English, found by a symbolic id."""

from jobclaw.texts.catalogue import Catalogue, core_folder
from jobclaw.texts.language import LOCALES, Locale, reader_locale

__all__ = ["LOCALES", "Catalogue", "Locale", "core_folder", "reader_locale"]
